"""A visit to a point: what a bench is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kernelsweep.device.request import Partner
from kernelsweep.device.sampling import Criterion
from kernelsweep.study.point import Point
from kernelsweep.sweep.identity import Identity


class Partners(Protocol):
    """Where the partners of points are found."""

    def of(self, identity: Identity, variant: str) -> Partner | None:
        """The partner of a point, by the identity of a visit and its variant's C++ name; None without one."""


@dataclass(frozen=True)
class Visit:
    """One visit to a point.

    point      the values of all axes
    variant    its C++ name
    identity   all that the outcome depends on; it lacks the machine code as long as the variant is not compiled
    check      whether its results are checked; an earlier visit has done so otherwise
    process    the number of the bench's process that makes the visit; None for the one of the visit's own number
    criterion  when there are samples enough; None for the protocol's
    partners   where a partner is looked for, to run in pairs with; None where none is wanted
    paired     when there are pairs enough, where the point has a partner
    skip       why it is not made, unless the journal has it; "" where it is
    """

    point: Point
    variant: str
    identity: Identity
    check: bool = True
    process: int | None = None
    criterion: Criterion | None = None
    partners: Partners | None = None
    paired: Criterion | None = None
    skip: str = ""

    @property
    def number(self) -> int:
        """The number of the visit to its point, from 0."""
        return int(self.identity["visit"])
