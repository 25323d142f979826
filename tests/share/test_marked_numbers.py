"""Numbers in documents: those that a recording has are as recorded, and marks are renewed or refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernelsweep.errors import UserError
from kernelsweep.platforms.choose import recorded_studies
from kernelsweep.project.project import load_study
from kernelsweep.share.marked_numbers import recording_of, rewrite
from kernelsweep.share.recorded_numbers import recorded_numbers

HEAD = "<!-- recorded: nvidia-h200 -->\n"


@pytest.fixture(scope="module")
def functions(root: Path) -> dict[str, Callable[..., Any]]:
    name = "nvidia-h200"
    settings = {study: load_study(study, root).settings for study in recorded_studies(root, name) or ()}
    return recorded_numbers(root / "resources/recordings" / name, settings).functions


def test_documents_quote_the_recording(root: Path, functions: dict[str, Callable[..., Any]]) -> None:
    quoting = [page for page in (*root.glob("*.md"), *root.glob("docs/**/*.md")) if recording_of(page.read_text())]
    assert len(quoting) > 5
    for page in quoting:
        renewed = rewrite(page.read_text(), functions, str(page.relative_to(root)))
        assert not renewed.untrue, "\n".join(renewed.untrue)
        assert renewed.text == page.read_text(), f"{page}: renew it by `uv run snakemake --cores 2 numbers`"


def test_a_stale_number_row_and_sentence_are_found(functions: dict[str, Callable[..., Any]]) -> None:
    stale = (
        'It takes 1.0<!--= time("unrolling/neighbored") --> µs, less than the next.'
        '<!--holds time("unrolling/neighbored") < time("unrolling/neighbored_less") -->\n\n'
        '<!--rows {% for unroll in [2, 8] %}\n| {{ unroll }} | {{ "%.2f" | format(speedup("unrolling/unrolled ×" ~ '
        'unroll, "unrolling/neighbored")) }} |\n{% endfor %}-->\n\n| unroll | x |\n|---|---:|\n| 2 | 9 |\n\nEnd.\n'
    )
    with pytest.raises(UserError, match=r"page\.md: numbers are marked, but `<!-- recorded: NAME -->` is missing"):
        rewrite(stale, functions, "page.md")
    renewed = rewrite(HEAD + stale, functions, "page.md")
    time = functions["time"]
    slow, fast = time("unrolling/neighbored"), time("unrolling/unrolled ×8")
    assert f"It takes {slow:.1f}<!--= " in renewed.text
    assert f"|---|---:|\n| 2 | {slow / time('unrolling/unrolled ×2'):.2f} |\n| 8 | {slow / fast:.2f} |\n\nEnd.\n" in (
        renewed.text
    )
    (message,) = renewed.untrue
    assert message.startswith("page.md:2: the sentence before this mark is no longer right: time(")


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ('1.0<!--= time("unrolling/neighbourd") -->', "page.md:2: time.*has 0 values of unrolling/neighbourd"),
        (
            '1.0<!--= time("unroling/neighbored") -->',
            "page.md:2: .*a step is named as `study/kernel ×unroll`;",
        ),
        ('1.0<!--= speed("unrolling/neighbored") -->', "page.md:2: speed.*'speed' is undefined"),
        ('about <!--= time("unrolling/neighbored") -->', "page.md: 1 of 1 marks follow no number or precede no table"),
    ],
)
def test_a_mistaken_mark_is_refused_with_its_line(
    mark: str, message: str, functions: dict[str, Callable[..., Any]]
) -> None:
    with pytest.raises(UserError, match=message):
        rewrite(HEAD + mark, functions, "page.md")
