"""What the process that makes visits is told: a task, visits, and when it rests. A message is a line of its pipe."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.device.sampling import Criterion
from kernelsweep.device.task import KernelTask
from kernelsweep.study.point import Point


@dataclass(frozen=True)
class Partner:
    """What a point runs in pairs with: an earlier version of its kernel, or another kernel.

    binary        the SHA-256 of its machine code
    unit          it is in
    other_kernel  of another kernel: its `launches`, as KernelLaunches.as_values(), and the `point` of its own
    """

    binary: str
    unit: BuiltUnit
    other_kernel: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class VisitRequest:
    """A visit as the process that makes it gets it.

    unit       the variant's; None where the task's binary has it
    partner    to run in pairs with; None for a visit without pairs
    criterion  as in Visit, of pairs where there is a partner
    """

    point: Point
    variant: str
    check: bool = True
    unit: BuiltUnit | None = None
    partner: Partner | None = None
    criterion: Criterion | None = None


@dataclass(frozen=True)
class Start:
    """The first message to a process.

    environment  variables of the job's
    first        the point that will be checked first, or None: its data are made while the device is opened
    """

    task: KernelTask
    environment: Mapping[str, str]
    first: Point | None = None


@dataclass(frozen=True)
class Rest:
    """Asks to give back all buffers. `is_over`: whether the kernel is over, so that another job's may follow."""

    is_over: bool = False


@dataclass(frozen=True)
class GoOn:
    """Says that the device is the process's again, after work of the host's that took long."""


# Work on the host that takes longer gives the device to other jobs meanwhile.
MOST_HOST_SECONDS = 0.1

Message = Start | VisitRequest | Rest | GoOn


def written(message: Message) -> str:
    """A message as a line. The job is trusted, so that a pickle does; answers come from the kernel's side, as JSON."""
    return base64.b64encode(pickle.dumps(message)).decode() + "\n"


def read(line: str) -> Any:
    """The message that written() made a line of."""
    return pickle.loads(base64.b64decode(line))
