"""Why each step helps: its words, the step that it is held against, counters that moved, and the code."""

from __future__ import annotations

from checkout import ROOT
from recorded import recorded

from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.steps.steps_page import read_words, steps_text


def sources(study: str) -> dict[str, str]:
    return {path.stem: path.read_text() for path in (ROOT / "kernels" / study).glob("*.cu")}


def parts(text: str) -> dict[str, str]:
    """The text of each step by its label."""
    return {part.partition("`")[2].partition("`")[0]: part for part in text.split("\n### ")[1:]}


def test_a_step_is_held_against_the_kernel_that_its_words_name() -> None:
    steps = parts(steps_text(recorded("unrolling"), sources("unrolling"), {}))
    # The step before it is the published one, unrolled_warps_volatile; its words say "as `unrolled_warps`".
    assert "times as fast as `unrolled_warps ×8`" in steps["completely_unrolled ×8"]
    assert "```diff unrolled_warps\n" in steps["completely_unrolled ×8"]
    assert "No loop counter and no loop branch" in steps["completely_unrolled ×8"]
    # The same kernel again: no words twice, and no code.
    assert "The source of `unrolled ×2`, with unroll=4." in steps["unrolled ×4"] and "diff" not in steps["unrolled ×4"]
    assert "```diff" not in steps["neighbored"] and "Time:" not in steps["neighbored"]


def test_the_code_differs_by_what_changed_and_not_by_a_name() -> None:
    old = read_words("old", "// Old.\nvoid old()\n{\n    a();\n}\n")
    new = read_words(
        "new", "// New: as `old`,\n// but b.\n//\n// Faster.\nvoid new()\n{\n    // Now b.\n    b();  // and not a\n}\n"
    )
    assert new.paragraphs == ["New: as `old`, but b.", "Faster."] and old.paragraphs == ["Old."]
    assert new.base(["older", "old"]) == "old" and new.base(["older"]) is None
    changed = [line for line in new.difference(old) if line.startswith(("+", "-"))]
    assert changed == ["-    a();", "+    b();"]


def test_on_the_page_the_code_unfolds() -> None:
    text = "# Why\n\n```diff old\n@@\n-    a<int>();\n+    b();\n```\n"
    html = to_html(text, "why", "why", ROOT, ROOT)
    assert "<details" in html and "<summary>The code, against <code>old</code></summary>" in html
    assert "<del>-    a&lt;int&gt;();</del>" in html and "<ins>+    b();</ins>" in html
