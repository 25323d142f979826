"""References of points that are to be checked, computed before a job waits for a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kernelsweep.locks import lock_first, process
from kernelsweep.measure.arguments import check_fit
from kernelsweep.measure.second_input import has_second_input, second_seed
from kernelsweep.measure.task import KernelTask
from kernelsweep.problems.registry import problem_of
from kernelsweep.sweep.kernel_sweep import PlannedPoint


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
    if problem.references is None:
        return
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
        with ProcessPoolExecutor(1, get_context("fork")) as other:
            other.submit(_prepare, task, list(instances.values()), has_clock).result()
    finally:
        os.close(held)


def _prepare(task: KernelTask, instances: Sequence[Sequence[PlannedPoint]], has_clock: bool) -> None:
    """`instances` are the points of each."""
    problem, seed = problem_of(task.problem), task.protocol.seed
    for points in instances:
        point = points[0].point
        instance = problem.make_instance(task.kernel, point, 1, seed)
        for each in points:
            check_fit(task, each, instance)
        problem.prepare(point, seed)
        arrays = instance.arrays(point).values()
        inputs = [array.contents.nbytes for array in arrays if array.contents is not None]
        if has_second_input(sum(inputs), sum(array.size * array.dtype.itemsize for array in arrays), has_clock):
            problem.prepare(point, second_seed(seed))


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
