"""References of points that are to be checked, computed before a job waits for a GPU."""

from __future__ import annotations

import os
import pickle
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import IO, Any

from kernelsweep.errors import UserError
from kernelsweep.locks import lock_first, process
from kernelsweep.measure.arguments import check_fit
from kernelsweep.measure.second_input import is_run_again, second_seed
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.worker.process import environment
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.kernels.launches import launches_of_task
from kernelsweep.sweep.point import Point
from kernelsweep.threads import thread_count

# The points of an instance, and whether its second input's reference is wanted.
_Wanted = tuple[Sequence[Point], bool]

_NOTICE_SECONDS = 5.0  # between two lines about references that are being computed


def prepare_references(
    task: KernelTask,
    planned: Sequence[PlannedPoint],
    has_clock: bool,
    notify: Callable[[str], None],
    processes: int = 1,
) -> None:
    """Compute the references that a problem keeps on disk and does not have yet, and check what the points pass.

    planned    the points that are to be checked, and others that are skipped
    has_clock  whether the platform has one: then larger points have a second input, too
    notify     gets a line for the user where another job computes them, and this one waits, and every few seconds
    processes  compute references at once, where the memory allows it

    Jobs of one problem file take turns, so that each reference is computed once. It happens in processes of their own,
    whose memory is given back before a point is measured. Raises UserError where a function of the problem is wrong,
    and where arguments or constants don't fit the kernel.
    """
    problem = problem_of(task.problem)
    instances: dict[tuple[Any, ...], list[Point]] = {}
    for each in planned:
        if not each.skipped:
            instances.setdefault(tuple(each.point[axis] for axis in problem.instance_axes), []).append(each.point)
    lock = problem.references.with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)

    def waiting(holder: int | None) -> None:
        notify(f"waiting for references of {problem.name}, which {process(holder)} computes")

    _, held = lock_first([lock], _opened, waiting)
    try:
        # The largest first: it takes the longest, and says how much memory the others take at most.
        by_size = sorted(instances.values(), key=lambda points: problem.size(points[0]), reverse=True)
        wanted = [(points, is_second) for points in by_size for is_second in (False, True)]
        told = time.monotonic()
        for number, at_once in enumerate(_computed_apart(task, wanted, has_clock, processes), start=1):
            if time.monotonic() > told + _NOTICE_SECONDS and number < len(wanted):
                notify(f"references of {problem.name}: {number} of {len(wanted)} done, {at_once} at once")
                told = time.monotonic()
    finally:
        os.close(held)


def _computed_apart(*arguments: Any) -> Iterator[int]:
    """_computed() in this process while it has one thread, and can be forked, else in a new Python."""
    if thread_count() == 1:
        yield from _computed(*arguments)
        return
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as other:
        assert other.stdin is not None and other.stdout is not None
        with other.stdin:
            pickle.dump(arguments, other.stdin)
        while (answer := _answer(other.stdout)) is not None:
            yield answer
    if other.returncode:
        raise RuntimeError(f"the process that computes references ended with exit status {other.returncode}")


def _answer(answers: IO[bytes]) -> int | None:
    """The next answer of another Python; None at its end. Raises the UserError that it has sent."""
    try:
        answer: int | UserError = pickle.load(answers)
    except EOFError:
        return None
    if isinstance(answer, UserError):
        raise answer
    return answer


def _computed(task: KernelTask, wanted: Sequence[_Wanted], has_clock: bool, processes: int) -> Iterator[int]:
    """Compute references in forks of this process; gives for each how many are computed at once.

    wanted  the first needs the most memory
    """
    compute, context = partial(_compute, task, has_clock), get_context("fork")
    if wanted:
        with ProcessPoolExecutor(1, context) as other:
            memory = other.submit(compute, wanted[0]).result()
        yield 1
    if others := wanted[1:]:
        # In half of the machine's memory: other jobs need some, too.
        half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        at_once = max(1, min(processes, len(others), half // memory))
        with ProcessPoolExecutor(at_once, context) as pool:
            for _ in pool.map(compute, others):
                yield at_once


def _compute(task: KernelTask, has_clock: bool, wanted: _Wanted) -> int:
    """Compute a reference, and give the most memory that this process has taken, in bytes."""
    problem, seed = problem_of(task.problem), task.protocol.seed
    points, is_second = wanted
    instance = problem.instance(task.kernel, points[0], second_seed(seed) if is_second else seed)
    if not is_second:
        launches = launches_of_task(task.launches, problem)
        for point in points:
            check_fit(task, launches, point, instance)
    if not is_second or is_run_again(instance, points[0], has_clock):
        instance.expect(points[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _main() -> None:
    """Serve _computed_apart(): arguments come in, and its numbers go out, or a UserError."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # A problem's functions may print.
    with answers:
        try:
            for at_once in _computed(*pickle.load(sys.stdin.buffer)):
                pickle.dump(at_once, answers)
                answers.flush()
        except UserError as wrong:
            pickle.dump(wrong, answers)


if __name__ == "__main__":
    _main()
