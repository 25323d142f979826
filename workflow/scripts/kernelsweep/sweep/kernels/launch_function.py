"""Launches that a problem file's function `launches` gives, which may be others at each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kernelsweep.problems.problem import Problem
from kernelsweep.sweep.kernels.launch_list import LaunchList, ListedLaunch, function_name
from kernelsweep.sweep.kernels.launch_plans import Plan


@dataclass(frozen=True)
class LaunchFunction:
    """The launches of one run of a kernel as its problem says them.

    macros, constants  as in LaunchList
    """

    problem: Problem
    kernel: str
    macros: Mapping[str, str]
    constants: tuple[str, ...] = ()
    _known: dict[tuple[Any, ...], tuple[ListedLaunch, ...]] = field(default_factory=dict, compare=False)

    @property
    def place(self) -> str:
        """Where they stand, for messages."""
        return f"{self.problem.name}: launches"

    @property
    def variant_names(self) -> set[str]:
        """The axes that a variant may depend on: those of the launches, and those in the macros."""
        return {*self.problem.launch_axes, *self._list(()).variant_names}

    @property
    def launch_names(self) -> set[str]:
        """The axes that the launches depend on."""
        return {*self.problem.launch_axes}

    def macro_values(self, point: Mapping[str, Any]) -> dict[str, str]:
        """The macros of a point's translation unit."""
        return self._list(()).macro_values(point)

    def functions(self, point: Mapping[str, Any]) -> list[str]:
        """The C++ names of the functions that a point launches, without duplicates. Raises UserError."""
        return self._list(self._launches(point)).functions(point)

    def at(self, point: Mapping[str, Any]) -> Plan:
        """The plan of a point. Raises UserError where the function is wrong, as for what CUDA doesn't allow."""
        return self._list(self._launches(point)).at(point)

    def _list(self, launches: tuple[ListedLaunch, ...]) -> LaunchList:
        return LaunchList(self.place, launches, self.macros, self.constants)

    def _launches(self, point: Mapping[str, Any]) -> tuple[ListedLaunch, ...]:
        """The launches of a point. A plan asks for them several times."""
        values = tuple(point[axis] for axis in self.problem.launch_axes)
        if values not in self._known:
            assert self.problem.launches is not None, "own_study makes this for problems that say launches"
            found = self.problem.launches(self.kernel, point)
            self._known[values] = tuple(
                ListedLaunch(
                    *function_name(launch.kernel or self.kernel, f"{self.place}.{number}.kernel"),
                    tuple(launch.grid) if isinstance(launch.grid, Sequence) else (launch.grid,),
                    tuple(launch.block) if isinstance(launch.block, Sequence) else (launch.block,),
                    launch.shared,
                    tuple(launch.arguments),
                )
                for number, launch in enumerate(found)
            )
        return self._known[values]
