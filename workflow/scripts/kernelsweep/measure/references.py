"""References of points that are to be checked, computed before a job waits for a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from kernelsweep.locks import lock_first, process
from kernelsweep.measure.second_input import has_second_input, second_seed
from kernelsweep.problems.registry import Named, problem_of
from kernelsweep.sweep.points import Point


def prepare_references(
    named: Named, points: Sequence[Point], seed: int, has_clock: bool, notify: Callable[[str], None]
) -> None:
    """Compute the references that a problem keeps on disk, and that it does not have yet.

    points     those that are to be checked
    has_clock  whether the platform has one: then larger points have a second input, too
    notify     gets a line for the user where another job computes them, and this one waits

    Jobs of one problem file take turns, so that each reference is computed once. It happens in a process of its own,
    whose memory is given back before a point is measured. Raises UserError where a function of the problem is wrong.
    """
    problem = problem_of(named)
    if problem.references is None:
        return
    instances = {tuple(point[axis] for axis in problem.instance_axes): dict(point) for point in points}
    lock = problem.references.with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)

    def waiting(holder: int | None) -> None:
        notify(f"waiting for references of {problem.name}, which {process(holder)} computes")

    _, held = lock_first([lock], _opened, waiting)
    try:
        with ProcessPoolExecutor(1, get_context("fork")) as other:
            other.submit(_prepare, named, list(instances.values()), seed, has_clock).result()
    finally:
        os.close(held)


def _prepare(named: Named, points: Sequence[Mapping[str, Any]], seed: int, has_clock: bool) -> None:
    problem = problem_of(named)
    for point in points:
        problem.prepare(point, seed)
        arrays = problem.make_instance("", point, 1, seed).arrays(point).values()
        inputs = [array.contents.nbytes for array in arrays if array.contents is not None]
        if has_second_input(sum(inputs), sum(array.size * array.dtype.itemsize for array in arrays), has_clock):
            problem.prepare(point, second_seed(seed))


def _opened(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
