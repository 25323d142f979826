"""The check is checked: plain wrong results that the checks of the shipped problems must not take for right ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from shipped_kernels import shipped_kernels

from kernelsweep.measure.second_input import second_seed
from kernelsweep.platforms.emulator import MULTIPROCESSORS
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.exchange import make_exchange
from kernelsweep.problems.operations import OPERATIONS, supports
from kernelsweep.problems.own.doubts import plain_mistakes
from kernelsweep.problems.problem import Elements
from kernelsweep.problems.reduction import Reduction, make_reduction, reference
from kernelsweep.sweep.expressions import Expression
from kernelsweep.sweep.kernels.planner import plan_of
from kernelsweep.sweep.kernels.source import LAUNCHES, KernelSource
from kernelsweep.sweep.point import Point

SEED = 2026  # config.yaml's
# The emulator's sizes with more than one element. Kernels run at each of them, so that a mistake must show at one.
SIZES = (31, 1000, 2**14 + 1)
TYPES = [
    (dtype, operation) for dtype, operation in itertools.product(CXX_TYPES, OPERATIONS) if supports(operation, dtype)
]
REDUCTIONS = [parameters.values[0] for parameters in shipped_kernels("reduction")]


def reduced_wrongly(problem: Reduction, size: int) -> Iterator[tuple[str, Elements]]:
    """Results in place of the right one, each with what it is."""
    right = np.array([reference(problem, size)]).astype(problem.dtype)
    yield from plain_mistakes("the result", right)
    yield "the mean", np.array([problem.tile[:size].astype(np.float64).mean()]).astype(problem.dtype)
    yield "the loss of the last element", np.array([reference(problem, size - 1)]).astype(problem.dtype)


def greatest_depth(size: int) -> int:
    """The longest chain of roundings in a shipped kernel, by which results may be off the most."""
    sizes = {"array_size": size, "block_size": 256, "unroll": 4, "grid_size": 2 * MULTIPROCESSORS}
    point = Point({"dtype": "float32", "operation": "sum", "cache": "cold", **sizes})
    return max(
        int(Expression(kernel.summation_depth)({**point, LAUNCHES: len(plan_of(kernel, point).launches)}))
        for kernel in REDUCTIONS
    )


@pytest.mark.parametrize(("dtype", "operation"), TYPES)
def test_a_reductions_check_takes_no_plain_mistake_for_right(dtype: str, operation: str) -> None:
    told, seen = set(), set()
    for size, seed in itertools.product(SIZES, (SEED, second_seed(SEED))):
        problem = make_reduction(dtype, operation, max(SIZES), seed)
        depth = greatest_depth(size)
        right = np.array([reference(problem, size)])
        assert problem.judge({"array_size": size}, {"right": right}, depth).mistake is None
        for mistake, wrong in reduced_wrongly(problem, size):
            told.add(mistake)
            if problem.judge({"array_size": size}, {"wrong": wrong}, depth).mistake:
                seen.add(mistake)
    assert told == seen
    assert told == {"zeros in the result", "ones in the result", "the mean", "the loss of the last element"}


@pytest.mark.parametrize("dtype", CXX_TYPES)
@pytest.mark.parametrize("kernel", shipped_kernels("exchange"))
def test_an_exchanges_check_takes_no_plain_mistake_for_right(kernel: KernelSource, dtype: str) -> None:
    arguments = {
        "broadcast": "source_lane=3",
        "rotate": "offset=2",
        "shift_up": "delta=1",
        "shift_down": "delta=1",
        "butterfly": "lane_mask=1",
        "butterfly_array": "lane_mask=1",
    }.get(kernel.name, "lane_mask=1 first=0 second=3")
    sizes = {"array_size": 1000, "block_size": 32, "unroll": 4, "width": 16}
    point = Point({"dtype": dtype, "operation": "exchange", "cache": "hot", **sizes, "arguments": arguments})
    problem = make_exchange(kernel.name, dtype, 1000)
    right = problem._expected(point, 0, 1000)
    assert problem.judge(point, {"right": right}, 0).mistake is None
    wrong = dict(plain_mistakes("the result", right))
    assert len(wrong) == 4
    last = right.argmax()
    wrong["the loss of the last element that is needed"] = np.where(np.arange(1000) == last, 0, right).astype(dtype)
    passed = [told for told, elements in wrong.items() if problem.judge(point, {"wrong": elements}, 0).mistake is None]
    assert not passed
