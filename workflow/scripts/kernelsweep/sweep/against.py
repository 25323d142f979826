"""Another kernel at its best, with which a candidate's points run in pairs (docs/grading.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from kernelsweep.compile.binaries import new_report
from kernelsweep.compile.build import gpu_source
from kernelsweep.compile.builder import Builder
from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.outcome import Outcome, combined
from kernelsweep.device.request import Partner
from kernelsweep.device.task import BuiltKernel, KernelTask
from kernelsweep.study.kernel_sweep import KernelSweep, PlannedPoint, units
from kernelsweep.study.kernels.units import EARLIER, spread_units
from kernelsweep.study.problem.drawn import is_timed
from kernelsweep.study.study import kernel_of_job
from kernelsweep.sweep.identity import Identity
from kernelsweep.sweep.journal import Journal
from kernelsweep.sweep.visits import find_visits


@dataclass(frozen=True)
class Against:
    """A kernel's fastest points, as partners of another kernel's.

    axes      those on which a point and its partner agree, such as those of the data and the cache
    launches  of the kernel, as KernelLaunches.as_values()
    best      its points by their values on these axes, each with its unit and variant
    """

    axes: Sequence[str]
    launches: Mapping[str, Any]
    best: Mapping[tuple[Any, ...], tuple[PlannedPoint, BuiltUnit]]

    @cached_property
    def digest(self) -> str:
        """A hash of these points, their launches and machine code."""
        told = [(str(one.point), _binary(one, unit)) for one, unit in self.best.values()]
        return hashlib.sha256(repr([self.launches, sorted(told)]).encode()).hexdigest()

    def of(self, identity: Identity, variant: str) -> Partner | None:
        """The point that one of a candidate's runs in pairs with; None where the other kernel has none."""
        found = self.best.get(tuple(identity["point"][axis] for axis in self.axes))
        if not found:
            return None
        planned, unit = found
        renamed = BuiltUnit(unit.file, {f"{EARLIER}{name}": entry for name, entry in unit.variants.items()})
        of = {"launches": self.launches, "point": dict(planned.point)}
        return Partner(_binary(planned, unit), renamed, of)


def _binary(planned: PlannedPoint, unit: BuiltUnit) -> str:
    return str(unit.variants[planned.variant]["binary_sha256"])


def read_against(
    told: Mapping[str, Any],
    device: Mapping[str, Any],
    candidate: KernelTask,
    target: str,
    store: UnitStore,
    kept: ExitStack,
) -> Against:
    """The best points of a kernel, whose job has left them in its journal, and its units in the store.

    told       the rule's parameter, as KernelPlan has it
    candidate  the task whose protocol and platform it shares
    kept       keeps the units' files
    """
    path, kernel = Path(told["kernel"]["file"]), kernel_of_job(**told["kernel"])
    sweep = KernelSweep(kernel, multiprocessors=device["multiprocessors"], target=target, **told["sweep"])
    report = new_report(target, "")
    task = BuiltKernel(kernel, report, None).task(candidate.platform, candidate.protocol)
    planned = [each for each in sweep.planned() if not each.skipped]
    builder = kept.enter_context(Builder(gpu_source(path, kernel, told["include"]), target, store, 1))
    builder.offer(spread_units(units(kernel, [each.point for each in planned])))
    axes = [name for name, axis in kernel.problem.axes.items() if not axis.of_kernel]
    with Journal(Path(told["journal"])) as journal:
        made = find_visits(task, planned, {}, journal, device, builder, short_count=True).made
    timed = []
    for one in planned:
        visits, unit = made.get(one.point), builder.kept(one.variant)
        if visits and unit and is_timed(one.point):
            timed.append((one, combined([*visits.values()]), unit))
    return fastest(axes, task.launches, timed)


def fastest(
    axes: Sequence[str], launches: Mapping[str, Any], timed: Iterable[tuple[PlannedPoint, Outcome, BuiltUnit]]
) -> Against:
    """The fastest of a kernel's points for each set of values on these axes; `launches` as in Against."""
    best: dict[tuple[Any, ...], tuple[float, PlannedPoint, BuiltUnit]] = {}
    for one, outcome, unit in timed:
        time_us, place = median(outcome.samples), tuple(one.point[axis] for axis in axes)
        if place not in best or time_us < best[place][0]:
            best[place] = (time_us, one, unit)
    return Against(axes, launches, {place: (one, unit) for place, (_, one, unit) in best.items()})
