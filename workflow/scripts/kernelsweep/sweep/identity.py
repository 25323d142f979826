"""A visit's identity: all that it depends on. What the journal keeps of a visit counts only under an equal identity.

It is everything that a job is given, less what LEFT_OUT names with a reason: a field that is added to a task, to a
protocol or to a device's description belongs to it without anybody's doing.

    point     the values of all axes
    visit     the visit's number, from 0
    version   what an edit in the user's repository changes: the machine code, the launches, the problem and its files
    settings  everything else: the device, its driver and limits, the protocol, the code that measures
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import cache
from typing import Any

import numpy as np

from kernelsweep.base.code_hash import code_hash, user_code_hash
from kernelsweep.device.measuring_code import measuring_files
from kernelsweep.device.task import KernelTask
from kernelsweep.study.kernels.launches import launches_of_task
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import problem_of

LEFT_OUT: Mapping[str, str] = {
    "task.binary": "a file's name; its machine code is in, as a hash",
    "task.variants": "other variants, and resources that follow from the machine code",
    "task.launches": "in, as the launches that it comes to at the point",
    "task.protocol": "in, field by field",
    "protocol.visits": "the number of visits changes none of them, and each has its own number",
    "protocol.timeout_seconds": "a run that ended in time is the same with more time",
    "device.provenance": "a sentence of the device's name and driver",
}

# Made once, where this module is imported, and not in each job's process.
_MEASURING_CODE = code_hash(measuring_files())

# What the task says of the user's own files; the rest of it are settings.
_OF_VERSION = ("roundings", "problem")

Identity = Mapping[str, Any]
# From a point, the SHA-256 of its variant's machine code or None, and the visit's number or None.
IdentityOf = Callable[[Point, str | None, int | None], Identity]


def identities(task: KernelTask, device: Mapping[str, Any]) -> IdentityOf:
    """The function that gives the identity of a visit to one of the task's points.

    device  the description of the device

    The function takes the point, the SHA-256 of its variant's machine code and the visit's number. Without the machine
    code, which a variant has once it is compiled, and without the visit's number, the identity lacks them. It consists
    of JSON's types.
    """
    problem = problem_of(task.problem)
    kept = {f"task.{one.name}": getattr(task, one.name) for one in fields(task)} | {
        f"protocol.{name}": value for name, value in asdict(task.protocol).items()
    }
    kept["protocol.criterion"] = task.protocol.criterion and repr(task.protocol.criterion)
    kept |= {f"device.{name}": value for name, value in device.items()}
    kept = {name: value for name, value in kept.items() if name not in LEFT_OUT}
    of_version = {name: kept.pop(f"task.{name}") for name in _OF_VERSION}
    # A repository that has moved is the same.
    of_version["problem"] = {key: value for key, value in task.problem.items() if key != "root"}
    of_version["problem_files"] = user_code_hash(problem.files)
    settings = {**kept, "code": _MEASURING_CODE, "numpy": np.__version__}
    launches = launches_of_task(task.launches, problem)

    # All visits to a point ask.
    @cache
    def plan_of(point: Point) -> str:
        return repr(launches.at(point))

    def identity(point: Point, binary: str | None, visit: int | None) -> Identity:
        version = {**of_version, "launches": plan_of(point)}
        if binary is not None:
            version["binary"] = binary
        of_visit = {} if visit is None else {"visit": visit}
        return {"point": dict(point), **of_visit, "version": version, "settings": settings}

    return identity


def with_binary(identity: Identity, binary: str) -> Identity:
    """The identity of a visit whose variant has been compiled to machine code with this SHA-256."""
    return {**identity, "version": {**identity["version"], "binary": binary}}


def identity_sha256(identity: Identity) -> str:
    """SHA-256 of an identity. The order of its keys makes no difference."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
