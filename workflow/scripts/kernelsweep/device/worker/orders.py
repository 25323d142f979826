"""A point in other orders of its blocks, warps and lanes: what the first order has hidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kernelsweep.device.outcome import Outcome
from kernelsweep.device.platform import MemoryMistake, Platform
from kernelsweep.device.point.runner import Runner
from kernelsweep.results import ORDER
from kernelsweep.study.problem.problem import Elements

# By how much two sums of floats may differ of which the order alone differs, as a fraction of the largest.
_SAME_WITHIN = 1e-3


def in_other_orders(outcome: Outcome, platform: Platform, runner: Runner, run: Callable[[int], Outcome]) -> Outcome:
    """The outcome of a point that the first order finds right, with what the others show up to the first failure.

    run  runs the point in an order, from 1 on, and settles its mistakes

    A finding ends with the order that shows it. Where nobody says which results are right, those that depend on the
    order are a finding, too.
    """
    right = runner.memory.fetched_results()
    known = {(mistake.array, frozenset(mistake.lines)) for mistake in outcome.mistakes}
    for order in range(1, runner.seeds):
        other = run(order)
        steps, differing = platform.steps(), ""
        if other.status in ("ok", "wrong_result") and (place := _differing(right, runner.memory.fetched_results())):
            array, element = place
            memories = [memory for memory, name, _ in runner.memory.buffers() if name == array]
            size = right[array].dtype.itemsize
            each = (platform.steps(memory, element * size, size) for memory in memories)
            # If no two threads have changed the element, those that meet first anywhere may have decided who does.
            steps = next(filter(None, each), []) or platform.steps(None, 0, 2**64)
            differing = f"{array}[{element}]"
        told = f". In steps: {', then '.join(steps)}" if steps else ""
        how = f", where this runs first: {platform.order_name(order)}{told}"
        for mistake in other.mistakes:
            if (places := (mistake.array, frozenset(mistake.lines))) not in known:
                known.add(places)
                outcome.mistakes.append(replace(mistake, message=f"{mistake.message}{how}"))
        if other.status != "ok":
            return replace(other, message=f"{other.message}{how}", mistakes=outcome.mistakes)
        if differing and not runner.judges:
            message = f"the results depend on the order of threads: {differing} differs from the usual order's{how}"
            outcome.mistakes.append(MemoryMistake(ORDER, (), message, 1, differing.partition("[")[0]))
            return outcome
    return outcome


def _differing(first: dict[str, Elements], second: dict[str, Elements]) -> tuple[str, int] | None:
    """The first element that differs, by its array and its index; None where arrays have the same numbers."""
    for name, array in first.items():
        one, other = array.ravel(), second[name].ravel()
        if one.dtype.names or one.tobytes() == other.tobytes():
            continue
        if one.dtype.kind == "f":
            differ = ~np.isclose(
                one, other, rtol=_SAME_WITHIN, atol=_SAME_WITHIN * float(np.nanmax(np.abs(one))), equal_nan=True
            )
        else:
            differ = one != other
        if differ.any() and not np.array_equal(np.sort(one), np.sort(other), equal_nan=one.dtype.kind == "f"):
            return name, int(np.argmax(differ))
    return None
