"""A launch as a problem describes it: what the function `launches` of a problem file returns.

A list of launches in a study says the same in YAML (sweep/kernels/launches.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.errors import UserError, shown_value

_EXAMPLE = "[Launch(grid=n // 256, block=256, arguments=['A', n])]"


@dataclass(frozen=True, kw_only=True)
class UserLaunch:
    """One launch of a run. Functions get this class as their parameter `Launch`.

    grid       the number of blocks, or up to three numbers; rounded up
    block      the number of threads of a block, or up to three numbers
    arguments  names of arrays and scalars, and numbers: NumPy's at their own width, Python's at the parameter's
    kernel     the C++ function, with the values of its template arguments: ``sums<256, float>``; empty for the function
               of the file's name
    shared     the bytes of dynamic shared memory; None for what the study says of the kernel
    cluster, cooperative, programmatic  as in a study's launches
    """

    grid: float | Sequence[float]
    block: int | Sequence[int]
    arguments: Sequence[str | float | np.generic]
    kernel: str = ""
    shared: int | None = None
    cluster: int | Sequence[int] | None = None
    cooperative: bool = False
    programmatic: bool = False


def read_launches(returned: Any, where: str) -> tuple[UserLaunch, ...]:
    """The launches that a function returns, with sides as sequences. Raises UserError, which says what is wrong."""
    if (
        not isinstance(returned, list | tuple)
        or not returned
        or not all(isinstance(one, UserLaunch) for one in returned)
    ):
        raise UserError(
            f"{where} returns {shown_value(returned)}. It has to return a list of launches, such as {_EXAMPLE}."
        )
    return tuple(_read(launch, f"{where}.{number}") for number, launch in enumerate(returned))


def _read(launch: UserLaunch, where: str) -> UserLaunch:
    shared = 0 if launch.shared is None else launch.shared
    is_size = is_number(shared) and shared >= 0 and shared == int(shared)
    is_list = isinstance(launch.arguments, list | tuple)
    for key, is_right, allowed in (
        ("kernel", isinstance(launch.kernel, str), "a function's name, such as 'sums<256>'"),
        ("shared", is_size, "a number of bytes"),
        (
            "arguments",
            is_list and all(map(_is_argument, launch.arguments)),
            "a list of names and of numbers of 64 bits",
        ),
    ):
        if not is_right:
            raise UserError(f"{where}.{key} is {shown_value(getattr(launch, key))}. Allowed: {allowed}.")
    return UserLaunch(
        grid=_sides(launch.grid, f"{where}.grid"),
        block=_sides(launch.block, f"{where}.block"),
        arguments=tuple(launch.arguments),
        kernel=launch.kernel,
        shared=None if launch.shared is None else int(shared),
        cluster=None if launch.cluster is None else _sides(launch.cluster, f"{where}.cluster"),
        cooperative=bool(launch.cooperative),
        programmatic=bool(launch.programmatic),
    )


def _is_argument(value: Any) -> bool:
    if isinstance(value, int) and not isinstance(value, bool):
        return is_number(value)
    return isinstance(value, str | bool | float | np.generic)


def _sides(given: Any, where: str) -> tuple[Any, ...]:
    sides = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not 1 <= len(sides) <= 3 or not all(map(is_number, sides)):
        raise UserError(f"{where} is {shown_value(given)}. Allowed: a number, or a list of up to three.")
    return tuple(side.item() if isinstance(side, np.generic) else side for side in sides)


def is_number(value: Any) -> bool:
    """Whether a value of the user's is a finite number of at most 64 bits, or a float."""
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return -(2**63) <= value < 2**64 if is_whole else isinstance(value, float | np.floating) and math.isfinite(value)
