"""Values as a function's parameters take them: of as many bytes, and as many values as parameters."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelsweep.errors import LaunchError, MisfitError
from kernelsweep.platforms.platform import Memory

_ADDRESS_BYTES = 8


def fitting(
    function: str, names: Sequence[Any], values: Sequence[Any], sizes: Sequence[int]
) -> list[Memory | np.generic]:
    """What is passed for the values: arrays and NumPy's scalars as they are, Python's numbers at a parameter's width.

    names  the arguments as the launch has them, for messages
    sizes  the bytes of each of the function's parameters; empty where nothing tells

    Raises MisfitError where number or sizes differ, and LaunchError for a number that is too large.
    """
    if sizes and len(sizes) != len(values):
        raise MisfitError(f"{function} has {len(sizes)} parameters, and the launch gives {len(values)} arguments")
    known = sizes or itertools.repeat(None, len(values))
    return [
        of_size(value, size, f"{function}: the argument {name}")
        for name, value, size in zip(names, values, known, strict=True)
    ]


def of_size(value: Any, size: int | None, shown: str) -> Memory | np.generic:
    """An argument for a parameter of `size` bytes, or of a size that nothing tells.

    Python's numbers have no width of their own, and take the parameter's. Raises LaunchError for a number that doesn't
    fit, and MisfitError for an array or a NumPy scalar of another size.
    """
    if not isinstance(value, np.generic):  # np.float64 is one of Python's floats, too.
        if isinstance(value, bool | int) and size in (1, 2, 4, 8):
            bits = 8 * size
            if not -(2 ** (bits - 1)) <= value < 2**bits:
                raise LaunchError(f"{shown} is {value}, which doesn't fit into the parameter's {size} bytes")
            return np.dtype(f"{'i' if value < 0 else 'u'}{size}").type(value)
        if isinstance(value, float) and size in (2, 4, 8):
            return np.dtype(f"f{size}").type(value)
    own = value.nbytes if isinstance(value, np.generic) else _ADDRESS_BYTES
    if size is not None and own != size:
        kind = "array" if own == _ADDRESS_BYTES and not isinstance(value, np.generic) else f"{value.dtype}"
        raise MisfitError(f"{shown} is of type {kind}, which has {own} bytes. The kernel's parameter has {size}")
    return value
