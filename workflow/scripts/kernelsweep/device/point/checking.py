"""The check of a point before it is timed: are its results right, its inputs as they were, and its bits again?

A write outside of an array, which leaves results and inputs right, is found by the guards around the arrays.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence

from kernelsweep.device.outcome import Outcome
from kernelsweep.device.point.point_run import PointRun
from kernelsweep.study.problem.file_instance import FileInstance

# A long run is repeated for so many seconds, and once at least.
_SECONDS_OF_REPEATED_RUNS = 0.02


def check_point(
    run: PointRun, instance: FileInstance, depth: int, repeated_runs: int, ended: Callable[[], None] = lambda: None
) -> Outcome:
    """Run a point and judge its results; compare the bits of floating-point results between several runs.

    repeated_runs  how often a point is run whose bits may differ, or which keeps something, the first run included
    ended          called once the first run has ended

    Raises MemoryError, LaunchError and ContextLost.
    """
    run.check_run()
    ended()
    counts = run.platform.counts()
    judgement = run.judge(instance, depth)
    leaves_state = run.leaves_state
    has_floats = any(result.dtype.kind not in "biu" for result in run.memory.results().values())
    compares_bits = not judgement.mistake and repeated_runs > 1 and has_floats
    compares_bits = compares_bits and run.memory.comparison.keep(run.memory.results())
    outside = run.memory.overwritten()
    changed = run.memory.changed()
    mistake = judgement.mistake or outside or (_undeclared(run, changed) if instance.is_judged else None)
    # What a run leaves in the kernel's own arrays, the next one may find.
    if not mistake and (leaves_state or any(array.contents is not None for array in run.plan.arrays.values())):
        for _ in range(repeated_runs - 1):
            run.check_run()
            if again := run.judge(instance, depth).mistake:
                mistake = f"right at first, but run again: {again}"
                break
    return Outcome(
        "wrong_result" if mistake else "ok",
        mistake or "",
        relative_error=None if mistake else judgement.relative_error,
        error_share=None if mistake and not judgement.mistake else judgement.error_share,
        bit_identical=_bit_identical(run, repeated_runs) if compares_bits and not mistake else None,
        output=judgement.output,
        leaves_state=leaves_state,
        counts=counts,
    )


def check_last_samples(
    run: PointRun, instances: Sequence[FileInstance], depth: int, places: Iterable[int]
) -> str | None:
    """What is wrong with the results of the last timed runs, which have left them at places, or None.

    instances  of the first and the second input, which alternate if both were given to the run's memory
    """
    for place in set(places):
        mistake = run.judge(instances[run.memory.input_at(place)], depth, place).mistake
        if mistake:
            return f"right when it was checked, but not when it was timed: {mistake}"
    return None


def check_second_input(run: PointRun, first: FileInstance, second: FileInstance, depth: int) -> str | None:
    """What is wrong with the results of the first input once more, and of a second one in the same memory, or None.

    Nothing restores variables before these runs. So results that are kept are found, by address, size or a flag, even
    where samples know none, and state that is left behind. Leaves the second input in place. Raises LaunchError and
    ContextLost.
    """
    run.check_run()  # Samples have left the state of the other input, at another place.
    if mistake := run.judge(first, depth).mistake:
        return f"right at first, but run again: {mistake}"
    try:
        run.memory.prepare(run.plan, second, number=1)
    except MemoryError:  # Only the first input has room.
        run.memory.free()
        return None
    run.check_run()
    mistake = run.judge(second, depth).mistake
    return f"right for the first input, but not for a second, of another seed: {mistake}" if mistake else None


def _undeclared(run: PointRun, changed: list[str]) -> str | None:
    """A message if a run has changed arrays that the next run needs as they were, or None."""
    if not changed:
        return None
    message = f"the result is right, but {changed[0]} is not left as it was, as the next run needs it"
    if changed[0] in run.plan.arrays:
        return message
    return f"{message}. If the kernel may change {changed[0]}, name it in its updates, or among the problem's outputs"


def _bit_identical(run: PointRun, repeated_runs: int) -> bool:
    """Whether further runs leave the bits of the results that were kept."""
    until = time.monotonic() + _SECONDS_OF_REPEATED_RUNS
    for _ in range(1, repeated_runs):
        run.check_run()
        if not run.memory.comparison.equal_kept(run.memory.results()):
            return False
        if time.monotonic() > until:
            break
    return True
