"""Why each step helps: its words, the step that it is held against, counters that moved, and the code."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest
from checkout import ROOT
from recorded import recorded, steps_page
from shipped_kernels import shipped_studies, shipped_study

from kernelsweep.judge.data.study_data import Metrics
from kernelsweep.judge.data.words import kernel_text
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.steps.steps_page import named_in, read_words
from kernelsweep.publish.tables.formats import as_latex, as_markdown
from kernelsweep.publish.tables.study_table import story_of, study_table
from kernelsweep.publish.tables.table_text import best_table, counters_table, short_text, table_text
from kernelsweep.study.settings import read_yaml


def sources(study: str) -> dict[str, str]:
    return {name: kernel.path.read_text() for name, kernel in shipped_study(study).kernels.items()}


def parts(text: str) -> dict[str, str]:
    """The text of each step by its label."""
    return {part.partition("`")[2].partition("`")[0]: part for part in text.split("\n### ")[1:]}


@cache
def story(study: str) -> dict[str, str]:
    """The text of each step of a shipped study, with all counters of the recording."""
    data, every = recorded(study), read_yaml(ROOT / "config/metrics.yaml", "config/metrics.yaml")["metrics"]
    return parts(steps_page(replace(data, metrics=Metrics(data.metrics.rows, every)), sources(study)))


def test_a_step_is_held_against_the_kernel_that_its_words_name() -> None:
    steps = story("unrolling")
    # The step before it is the published one, unrolled_warps_volatile; its words say "as `unrolled_warps`".
    assert "no difference from `unrolled_warps ×8`" in steps["completely_unrolled ×8"]
    assert "~~~diff The code, against `unrolled_warps`\n" in steps["completely_unrolled ×8"]
    assert "No loop counter and no loop branch" in steps["completely_unrolled ×8"]
    # The same kernel again: no words twice, and no code.
    assert "The source of `unrolled ×2`, with unroll=4." in steps["unrolled ×4"] and "diff" not in steps["unrolled ×4"]
    assert "```diff" not in steps["neighbored"] and "Time:" not in steps["neighbored"]


@pytest.mark.parametrize(("study", "step", "first", "not_named"), [
    # The hardware counts 158 conflicts of other traffic, and 7 million that are the kernel's.
    ("staged", "staged_shared (256 blocks)", "DRAM read throughput 856 → 1,693 GB/s", "bank conflict"),
    # What got worse is no reason for a gain, and stands behind those.
    ("stepwise", "strided_index", "instructions per warp 251 → 131; DRAM", "barrier"),
    ("staged", "staged_global (288 blocks)", "DRAM bytes 150 → 69.92 MB; achieved occupancy", "barrier"),
    # A block's only store, of four bytes, has nothing to coalesce; a tree in global memory has.
    ("warp_shuffle", "shared_memory", "barrier stall 41.33 → 10.57%; global load requests", "global store efficiency"),
    ("unrolling", "interleaved", "global load efficiency 25.02 → 96.15%; global store efficiency", "barrier"),
    # Barriers get a larger share of the time because all else became shorter; later they do take less.
    ("unrolling", "neighbored_less", "instructions per warp 304 → 124", "barrier"),
    ("unrolling", "unrolled_warps ×8", "instructions per warp 140 → 98.94; barrier stall 25.05 → 20.64%", "occupancy"),
    # Of sectors that are as many, fewer hit; among half as many others, a share of hits means nothing.
    ("unrolling", "unrolled_warps_volatile ×8", "global load L1 hit rate 24.26 → 16.72%", "barrier"),
    ("unrolling", "unrolled ×8", "DRAM read throughput 2,198 → 3,126 GB/s", "hit rate"),
    # A thirtieth of the warps branches more often each; and two runs differ by more than 2.58 and 2.29%.
    ("stepwise", "cascaded", "barrier stall 12.02 → 3.34%", "branch"),
    ("staged", "staged_warp (270 blocks)", "", "barrier stall"),
    # Its bytes change in digits that are not shown.
    ("exchanges", "butterfly_swap_twice ×4", "", "DRAM bytes"),
    # Of its copies to shared memory, no bytes are counted.
    ("matmul", "async_copies", "DRAM bytes 575 → 1,165 MB", "global load efficiency"),
])  # fmt: skip
def test_a_counter_that_moved_is_a_reason(study: str, step: str, first: str, not_named: str) -> None:
    moved = story(study)[step].partition("- Moved")[2].partition("\n")[0].partition(": ")[2]
    assert moved.startswith(first) and not_named not in moved


@pytest.mark.parametrize("study", [study.name for study in shipped_studies()])
def test_every_study_has_its_steps_and_tables(study: str) -> None:
    # Pins: a study without the axis block_size, whose page ended in a traceback.
    data, table = recorded(study), study_table(recorded(study))
    assert list(story(study)) == [step.label for step in story_of(data)]
    text = as_markdown(table_text(table, data))
    # A table of names alone is left out.
    names = map(kernel_text, table["kernel"])
    assert all((f"| `{name}`" in text) is not data.compares_outputs for name in names) and "`limit_" not in text
    for of_paper in (short_text(table, data), best_table(data), counters_table(data)):
        assert as_latex(of_paper)


def test_a_cell_has_one_number_of_what_its_row_is() -> None:
    for study, is_float in (("unrolling", False), ("stepwise", True)):
        text = as_markdown(table_text(study_table(recorded(study)), recorded(study)))
        timed, counters, *_ = text.split("\n### ")
        # Of an integer sum, the errors of other points say nothing; what is published has a table of its own.
        assert ("largest error" in timed) is is_float
        assert not re.search(r"\d \*\d", counters) and "<details><summary>What each column means</summary>" in counters


def test_a_time_that_may_be_the_same_is_no_gain() -> None:
    # Where a step has another value on a common axis, too, both stand there.
    assert "copies=32, 5.28 times as fast as `shared_copies` at copies=2 (" in story("histogram")["vector_loads"]
    no_gain = "3.264 → 3.264 µs, no difference from `broadcast` beyond the error (0.972–1.02 times as fast)."
    assert no_gain in story("exchanges")["shift_up"]
    # It is held against the kernel that it changes, in the same grid.
    slower = r"0\.4\d\d times as fast as `staged_shared \(256 blocks\)` \(0\.4\d\d–0\.4\d\d\)"
    assert re.search(slower, story("staged")["staged_unsigned_index (256 blocks)"])


def test_the_largest_step_keeps_what_the_story_fixes() -> None:
    # Pins: "4.86 times as fast as interleaved", of unrolled ×16, beside the step unrolled ×2.
    of_block = "Largest step at 2³⁰, each at its fastest block size: "
    assert f"{of_block}5,086 → 2,768 µs, 1.84 times as fast as `interleaved`." in story("unrolling")["unrolled ×2"]
    assert (
        f"{of_block}3,420 → 1,113 µs, 3.07 times as fast as `shared_memory`"
        in story("warp_shuffle")["shared_memory ×4"]
    )
    assert "each at its fastest: 18,844 → 5,403 µs" in story("matmul")["register_tile"], "nothing is fixed"


def test_the_code_differs_by_what_changed_and_not_by_a_name() -> None:
    old = read_words("old", "// Old.\nvoid old()\n{\n    a();\n}\n")
    text = "// New: as `old`,\n// but b.\n//\n// Faster.\nvoid new()\n{\n    // Now b.\n    b();  // and not `a`\n}\n"
    new = read_words("new", text)
    assert new.paragraphs == ["New: as `old`, but b.", "Faster."] and old.paragraphs == ["Old."]
    assert named_in(text) == ["old"]
    changed = [line for line in new.difference(old) if line.startswith(("+", "-"))]
    assert changed == ["-    a();", "+    b();"]


def test_on_the_page_the_code_unfolds() -> None:
    text = "# Why\n\n~~~diff The code, against `old`\n@@\n-    a<int>();\n+    b();\n~~~\n"
    html = to_html(text, "why", "why", ROOT, ROOT)
    assert "<details" in html and "<summary>The code, against <code>old</code></summary>" in html
    # What a line has no room for stands further in than its own beginning.
    assert '<del style="--in:9ch">-    a&lt;int&gt;();</del><ins style="--in:9ch">+    b();</ins>' in html
