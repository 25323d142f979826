"""Values as a function's parameters take them: of their types, and as many values as parameters."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernelsweep.device.platform import Address, Memory
from kernelsweep.errors import LaunchError, MisfitError

_ADDRESS_BYTES = 8

# Kinds of parameters in words, and the kinds of NumPy's types that fit them; others fit by their size alone.
_IN_WORDS = {"p": "a pointer", "f": "a float", "b": "a bfloat16", "i": "a whole number", "u": "a whole number"}
# A structure of eight bytes may hold an address with an offset.
_FITTING = {"p": "V", "f": "f", "i": "iub", "u": "iub"}


def fitting(
    function: str,
    names: Sequence[Any],
    values: Sequence[Any],
    parameters: Sequence[str],
    dtypes: Mapping[str, np.dtype[Any]],
) -> list[Memory | np.generic]:
    """What is passed for the values: arrays and NumPy's scalars as they are, Python's numbers in a parameter's type.

    names       the arguments as the launch has them, for messages
    parameters  what each of the function's holds, as in Platform.parameter_types(); empty where nothing tells
    dtypes      the element types of arrays by their names

    Raises MisfitError where number, types or sizes differ, and LaunchError for a number that is too large.
    """
    if parameters and len(parameters) != len(values):
        raise MisfitError(f"{function} has {len(parameters)} parameters, and the launch gives {len(values)} arguments")
    known = parameters or itertools.repeat(None, len(values))
    return [
        of_parameter(value, parameter, f"{function}: the argument {name}", dtypes.get(str(name)))
        for name, value, parameter in zip(names, values, known, strict=True)
    ]


def of_parameter(
    value: Any, parameter: str | None, shown: str, dtype: np.dtype[Any] | None = None
) -> Memory | np.generic:
    """An argument for a parameter, as in Platform.parameter_types(); None where nothing tells what it holds.

    Python's numbers have no type of their own, and take the parameter's. `dtype` is that of an array's elements.
    Raises LaunchError for a number that doesn't fit, and MisfitError for an array or a NumPy scalar of another type or
    size.
    """
    if parameter is None:
        return value
    own, *pointed = parameter.split()
    kind, size = own[0], int(own[1:])
    of_kind = _IN_WORDS.get(kind, "of another type")
    # np.float64 is a float, and an address a whole number, too.
    if isinstance(value, bool | int | float) and not isinstance(value, np.generic | Address):
        if kind in "ps" and value != 0:
            raise MisfitError(f"{shown} is a number. The kernel's parameter is {_IN_WORDS.get(kind, 'a structure')}")
        if kind in "fb" or (kind == "?" and isinstance(value, float)):
            return _as_float(value, kind, size, shown)
        if isinstance(value, float) and not value.is_integer():
            raise MisfitError(f"{shown} is not whole. The kernel's parameter is {of_kind}: write // or ceil()")
        return _as_integer(int(value), size, shown)
    is_array = not isinstance(value, np.generic)
    bytes_of = _ADDRESS_BYTES if is_array else value.nbytes
    if bytes_of != size:
        name = "array" if is_array else f"{value.dtype}"
        raise MisfitError(f"{shown} is of type {name}, which has {bytes_of} bytes. The kernel's parameter has {size}")
    if kind in "fiub" if is_array else value.dtype.kind not in _FITTING.get(kind, value.dtype.kind):
        name = "an array" if is_array else f"of type {value.dtype}"
        raise MisfitError(f"{shown} is {name}. The kernel's parameter is {of_kind}")
    if dtype is not None and pointed and _are_others(dtype, pointed[0]):
        right = "bfloat16" if pointed[0] == "b2" else np.dtype(pointed[0]).name
        raise MisfitError(
            f"{shown} is an array of {dtype}. The kernel's parameter is a pointer to {right}: give the array that type"
        )
    return value


def _are_others(dtype: np.dtype[Any], pointed: str) -> bool:
    """Whether an array's elements are other numbers than those that a parameter points at.

    A sign makes no difference. Bytes, structures and complex numbers may stand for anything, whole numbers without a
    sign for those of another size, and whole numbers of two bytes for floats that NumPy hasn't.
    """
    kind, size = pointed[0], int(pointed[1:])
    own = "b" if dtype.name == "bfloat16" else {"b": "?"}.get(dtype.kind, dtype.kind)
    if own not in "fiub?" or (dtype.itemsize == 1 and own != "?"):
        return False
    if own in "iu" and kind in "iu":
        return own == "i" and dtype.itemsize != size
    return (own, dtype.itemsize) != (kind, size) and not (own in "iu" and dtype.itemsize == size == 2)


def _as_integer(value: int, size: int, name: str) -> np.generic:
    bits = 8 * size
    if size not in (1, 2, 4, 8) or not -(2 ** (bits - 1)) <= value < 2**bits:
        raise LaunchError(f"{name} is {value}, which doesn't fit into the parameter's {size} bytes")
    number: np.generic = np.dtype(f"{'i' if value < 0 else 'u'}{size}").type(value)
    return number


def _as_float(value: float, kind: str, size: int, name: str) -> np.generic:
    with np.errstate(over="ignore"):
        number: np.generic = np.dtype("f4" if kind == "b" else f"f{size}").type(value)
    if not np.isfinite(number) and np.isfinite(float(value)):
        raise LaunchError(f"{name} is {value}, which doesn't fit into the parameter's {size} bytes")
    if kind == "b":  # The upper half of a float32, rounded to the nearest, and to even where two are as near.
        bits = int(number.view(np.uint32))
        return np.uint16((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if np.isfinite(number) else bits >> 16)
    return number
