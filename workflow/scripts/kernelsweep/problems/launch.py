"""A launch as a problem describes it: what the function `launches` of a problem file returns.

A list of launches in a study says the same in YAML (sweep/kernels/launch_list.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelsweep.errors import UserError

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
    """

    grid: float | Sequence[float]
    block: int | Sequence[int]
    arguments: Sequence[str | float | np.generic]
    kernel: str = ""
    shared: int | None = None


def read_launches(returned: Any, where: str) -> tuple[UserLaunch, ...]:
    """The launches that a function returns, with sides as sequences. Raises UserError, which says what is wrong."""
    if (
        not isinstance(returned, list | tuple)
        or not returned
        or not all(isinstance(one, UserLaunch) for one in returned)
    ):
        raise UserError(f"{where} returns {returned!r}. It has to return a list of launches, such as {_EXAMPLE}.")
    return tuple(_read(launch, f"{where}.{number}") for number, launch in enumerate(returned))


def _read(launch: UserLaunch, where: str) -> UserLaunch:
    if not isinstance(launch.kernel, str):
        raise UserError(f"{where}.kernel is {launch.kernel!r}. Allowed: a function's name, such as 'sums<256>'.")
    shared = 0 if launch.shared is None else launch.shared
    if not _is_number(shared) or shared < 0 or shared != int(shared):
        raise UserError(f"{where}.shared is {launch.shared!r}. Allowed: a number of bytes.")
    if not isinstance(launch.arguments, list | tuple):
        raise UserError(f"{where}.arguments is {launch.arguments!r}. Allowed: a list of names and numbers.")
    for argument in launch.arguments:
        if not isinstance(argument, str | bool | int | float | np.generic):
            raise UserError(
                f"{where}.arguments has an object of type {type(argument).__name__}. Allowed: names of arrays and "
                "scalars, and numbers."
            )
    return UserLaunch(
        grid=_sides(launch.grid, f"{where}.grid"),
        block=_sides(launch.block, f"{where}.block"),
        arguments=tuple(launch.arguments),
        kernel=launch.kernel,
        shared=None if launch.shared is None else int(shared),
    )


def _sides(given: Any, where: str) -> tuple[Any, ...]:
    sides = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not 1 <= len(sides) <= 3 or not all(map(_is_number, sides)):
        raise UserError(f"{where} is {given!r}. Allowed: a number, or a list of up to three.")
    return tuple(side.item() if isinstance(side, np.generic) else side for side in sides)


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and math.isfinite(value)
