"""The comparisons with other tools: verdicts by the goals."""

from __future__ import annotations

import compare_edits
import compare_nvbench
import pytest


@pytest.mark.parametrize(("nvbench_us", "ours_us", "within"), [
    (20.0, 20.19, True), (20.0, 20.21, False), (20.0, 19.79, False),  # 1% from 20 us
    (19.9, 20.4, True), (5.0, 5.14, True), (5.0, 4.84, False),  # 3% from 5 us
    (4.9, 9.0, None),  # not judged
])  # fmt: skip
def test_nvbench_goal(nvbench_us: float, ours_us: float, within: bool | None) -> None:
    # One outlier a round: medians are compared, not means.
    row = compare_nvbench.compared("p", [[ours_us] * 9 + [900.0]] * 3, [[nvbench_us] * 9 + [900.0]] * 2)
    assert row["within"] is within


def test_nvbench_verdict_needs_a_judged_point() -> None:
    def row(ours_us: float, nvbench_us: float) -> dict[str, object]:
        return compare_nvbench.compared("p", [[ours_us]], [[nvbench_us]])

    short, right, wrong = row(3.0, 2.0), row(30.1, 30.0), row(31.0, 30.0)
    assert compare_nvbench.verdict([short, right])[1]
    assert not compare_nvbench.verdict([short])[1], "nothing was compared"
    sentence, met = compare_nvbench.verdict([short, right, wrong])
    assert not met and "1 of 2" in sentence


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
