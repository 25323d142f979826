"""References of points that are to be checked, computed before a job waits for a GPU."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.locks import lock_first, process
from kernelsweep.measure.arguments import check_fit
from kernelsweep.measure.second_input import is_run_again, second_seed
from kernelsweep.measure.task import KernelTask
from kernelsweep.measure.worker.process import environment
from kernelsweep.problems.problem_file import problem_of
from kernelsweep.sweep.kernel_sweep import PlannedPoint
from kernelsweep.sweep.kernels.launches import launches_of_task
from kernelsweep.threads import thread_count


def prepare_references(
    task: KernelTask, planned: Sequence[PlannedPoint], has_clock: bool, notify: Callable[[str], None]
) -> None:
    """Compute the references that a problem keeps on disk and does not have yet, and check what the points pass.

    planned    the points that are to be checked, and others that are skipped
    has_clock  whether the platform has one: then larger points have a second input, too
    notify     gets a line for the user where another job computes them, and this one waits

    Jobs of one problem file take turns, so that each reference is computed once. It happens in a process of its own,
    whose memory is given back before a point is measured. Raises UserError where a function of the problem is wrong,
    and where arguments or constants don't fit the kernel.
    """
    problem = problem_of(task.problem)
    instances: dict[tuple[Any, ...], list[PlannedPoint]] = {}
    for each in planned:
        if not each.skipped:
            instances.setdefault(tuple(each.point[axis] for axis in problem.instance_axes), []).append(each)
    lock = problem.references.with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)

    def waiting(holder: int | None) -> None:
        notify(f"waiting for references of {problem.name}, which {process(holder)} computes")

    _, held = lock_first([lock], _opened, waiting)
    try:
        _prepare_apart(task, list(instances.values()), has_clock)
    finally:
        os.close(held)


def _prepare_apart(*arguments: Any) -> None:
    """Call _prepare() in a process of its own: a fork of this one while it has one thread, else a new Python."""
    if thread_count() == 1:
        with ProcessPoolExecutor(1, get_context("fork")) as other:
            other.submit(_prepare, *arguments).result()
        return
    command = [sys.executable, "-m", __name__]
    ended = subprocess.run(command, input=pickle.dumps(arguments), stdout=subprocess.PIPE, env=environment())
    if ended.returncode:
        raise RuntimeError(f"the process that computes references ended with exit status {ended.returncode}")
    if error := pickle.loads(ended.stdout):
        raise error


def _prepare(task: KernelTask, instances: Sequence[Sequence[PlannedPoint]], has_clock: bool) -> None:
    """`instances` are the points of each."""
    problem, seed = problem_of(task.problem), task.protocol.seed
    launches = launches_of_task(task.launches, problem)
    for points in instances:
        point = points[0].point
        instance = problem.instance(task.kernel, point, seed)
        for each in points:
            check_fit(task, launches, each.point, instance)
        instance.expect(point)
        if is_run_again(instance, point, has_clock):
            problem.instance(task.kernel, point, second_seed(seed)).expect(point)


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)


def _main() -> None:
    """Serve _prepare_apart(): arguments come in, and a UserError goes out, or None."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # A problem's functions may print.
    error = None
    try:
        _prepare(*pickle.load(sys.stdin.buffer))
    except UserError as wrong:
        error = wrong
    with answers:
        pickle.dump(error, answers)


if __name__ == "__main__":
    _main()
