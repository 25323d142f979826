"""The check of a point before it is timed: is its result right, is its input as it was, are its bits the same again?"""

from __future__ import annotations

from kernelsweep.measure.outcome import Outcome
from kernelsweep.measure.point.point_run import PointRun
from kernelsweep.problems.operations import Array
from kernelsweep.problems.problem import Instance


def check_point(run: PointRun, instance: Instance, depth: int, repeated_runs: int) -> Outcome:
    """Run a point and judge its results; compare the bits of floating-point results between several runs.

    depth          the longest chain of roundings that an element's value goes through on the device
    repeated_runs  how often a floating-point point is run, the first run included

    Raises MemoryError, LaunchError and ContextLost.
    """
    results = run.results()
    updates_input = run.memory.settle_input()
    judgement = instance.judge(run.point, results, depth)
    mistake = judgement.mistake or run.memory.not_zeroed()
    if not mistake and run.plan.zeroed and repeated_runs > 1:
        again = instance.judge(run.point, run.results(), depth).mistake
        mistake = f"right at first, but run again: {again}" if again else None
    return Outcome(
        "wrong_result" if mistake else "ok",
        mistake or "",
        relative_error=None if mistake else judgement.relative_error,
        bit_identical=None if mistake else _bit_identical(run, results, repeated_runs),
        output=judgement.output,
        updates_input=updates_input,
    )


def _bit_identical(run: PointRun, results: Array, repeated_runs: int) -> bool | None:
    """Whether further runs leave the bits of `results`; None for integers."""
    if results.dtype.kind != "f" or repeated_runs < 2:
        return None
    return all(run.results().tobytes() == results.tobytes() for _ in range(repeated_runs - 1))
