"""The comparisons with other tools: verdicts by the goals."""

from __future__ import annotations

import compare_edits


def edits(ratio: float, kernel: str, verdict: str, count: int = 100) -> list[dict[str, str]]:
    return [{"kernel": kernel, "time_before_us": "9.0", "ratio": str(ratio), "verdict": verdict}] * count


def test_the_goals_of_edits_are_missed_where_identical_code_is_called_or_a_slowdown_is_not() -> None:
    right = [*edits(1.0, "same", "same", 999), *edits(1.02, "slower_2", "slower"), *edits(1.05, "slower_5", "slower")]
    right += edits(1.01, "slower_1", "undecided")
    assert compare_edits.judged([*right, *edits(1.02, "same", "slower", 1)])[1]
    assert not compare_edits.judged([*right, *edits(1.02, "same", "slower", 6)])[1]
    assert not compare_edits.judged([*right, *edits(1.02, "slower_2", "undecided", 2)])[1]
    assert not compare_edits.judged([*right, *edits(1.0, "same", "undecided", 60)])[1]


def test_a_kernels_launch_is_told_in_rounds() -> None:
    rows = [{"parameters": f"rounds={r} blocks=8", "time_us": f"{3 + 0.005 * r}"} for r in (300, 5000, 70_000)]
    assert compare_edits.launch_in_rounds(rows) == 600
