"""Which points a sweep has, which of them run, and which variants they need."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from kernelsweep.sweep.axes import Axes, grid_of_threads
from kernelsweep.sweep.expressions import admits, expression
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.kernels.units import Unit, units_of, variant_name
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.spaces import Combinations, Numbers, union, valid_combinations


def points(*sweeps: Axes) -> list[Point]:
    """Every combination of each sweep's axis values, without duplicates. The last axis varies fastest."""
    return list(dict.fromkeys(point for axes in sweeps for point in _combinations(axes)))


def _combinations(axes: Axes) -> Iterator[Point]:
    for combination in itertools.product(*axes.values()):
        values = dict(zip(axes, combination, strict=True))
        if "grid_size" in values:
            values["grid_size"] = grid_of_threads(values["grid_size"], values["block_size"])
        yield Point(values)


def skip_reason(point: Point, kernel: KernelSource, restrictions: Sequence[str], target: str | None) -> str | None:
    """The reason to skip a point of the sweep, or None to run it.

    restrictions  expressions that every point must satisfy
    target        the kernel's compilation target: an architecture such as sm_90, or "emulator"; None for a
                  GPU of any architecture
    """
    reason = (
        kernel.unsupported(point) or kernel.problem.skip_reason(kernel.name, point) or kernel.unsupported_on(target)
    )
    if reason:
        return reason
    for restriction in restrictions:
        if not admits(restriction, point):
            return f"restriction: {restriction}"
    return None


@dataclass(frozen=True, eq=False)
class ValidPoints(Sequence[Point]):
    """Points with the same axes, each made when it is asked for: there may be millions."""

    combinations: Combinations

    @property
    def axes(self) -> list[str]:
        """The points' axes."""
        return list(self.combinations.values)

    def __len__(self) -> int:
        return len(self.combinations)

    @overload
    def __getitem__(self, number: int) -> Point: ...

    @overload
    def __getitem__(self, number: slice) -> ValidPoints: ...

    def __getitem__(self, number: int | slice) -> Point | ValidPoints:
        if isinstance(number, slice):
            return ValidPoints(self.combinations[number])
        return Point(dict(zip(self.combinations.values, self.combinations[number], strict=True)))

    def __iter__(self) -> Iterator[Point]:
        axes = self.axes
        return (Point(dict(zip(axes, combination, strict=True))) for combination in self.combinations)

    def groups(self, axes: Iterable[str]) -> list[Numbers]:
        """The numbers of points with equal values on these axes, in the order in which they first appear."""
        return self.combinations.groups(axes)


def valid_points(sweeps: Iterable[Axes], restrictions: Sequence[str], tied: Sequence[Sequence[str]]) -> ValidPoints:
    """The points of each sweep that meet every restriction, without duplicates. The last axis varies fastest.

    tied  groups of axes that vary together, as in spaces.valid_combinations()
    """
    several = [valid_combinations(axes, restrictions, tied) for axes in sweeps]
    return ValidPoints(several[0] if len(several) == 1 else union(several))


def instantiation(kernel: KernelSource, point: Point) -> str:
    """The name of a point's variant, with C++ names as a demangler prints them: ``unrolled<int, Sum, 2u>``.

    Points with equal template arguments and macros share a variant.
    """
    return variant_name(*_compiled(kernel, point))


def _compiled(kernel: KernelSource, point: Point) -> tuple[list[str], dict[str, str]]:
    """The C++ names of the functions that a point launches, and the macros that they are compiled with."""
    if kernel.listed:
        return kernel.listed.functions(point), kernel.listed.macro_values(point)
    values = kernel.problem.template_values(point)
    types = kernel.problem.template_parameters
    arguments = [f"{values[name]}{'u' if types[name] == 'unsigned' else ''}" for name in kernel.template_parameters]
    return [f"{kernel.name}<{', '.join(arguments)}>"], {}


def units(kernel: KernelSource, run: Iterable[Point]) -> list[Unit]:
    """The translation units with the variants of these points."""
    return units_of(_compiled(kernel, point) for point in run)


def points_of_variants(
    kernel: KernelSource, sweeps: Iterable[Axes], restrictions: Sequence[str], target: str | None
) -> Iterator[Point]:
    """A point of each variant that the sweeps run. The other parameters are as for skip_reason().

    Axes that no template depends on, such as the array size, matter here only if a restriction names them. One value is
    enough for the others: to try every point would take minutes for 1,000 kernels with 10,000 points each.
    """
    restricted = {name for restriction in restrictions for name in expression(restriction).names}
    for axes in sweeps:
        between = {axis: values for axis, values in axes.items() if kernel.problem.axes[axis].in_variant}
        within = {
            axis: values if axis in restricted else values[:1] for axis, values in axes.items() if axis not in between
        }
        for of_variant in itertools.product(*between.values()):
            fixed = {axis: [value] for axis, value in zip(between, of_variant, strict=True)}
            candidates = _combinations({**within, **fixed})
            run = (point for point in candidates if not skip_reason(point, kernel, restrictions, target))
            yield from itertools.islice(run, 1)
