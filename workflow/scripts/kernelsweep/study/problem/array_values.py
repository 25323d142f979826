"""Arrays and scalars as a user's functions return them: checked, with the array's elements in one row."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any, TypeVar

import numpy as np

from kernelsweep.errors import UserError, nearest, shown_value
from kernelsweep.home import installation
from kernelsweep.study.problem.problem import Scalar
from kernelsweep.tensors import as_array, as_tensor, is_tensor

_TYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
# The types of the package ml_dtypes that have whole bytes. Others, such as int4, have no layout that CUDA shares.
_SMALL_TYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
# NumPy gives these names 64 bits (complex: 128), C++ gives them 32 (64).
_AMBIGUOUS = {"float": "float32 or float64", "int": "int32 or int64", "complex": "complex64 or complex128"}

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class ArrayValue:
    """An array of any shape, or a number (of shape ()).

    contents   its elements in C's order, shape (at most the array's size,); they repeat where there are fewer. None if
               nothing is known of them.
    is_tensor  whether functions get it as a tensor of PyTorch's, as they have made it
    """

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    contents: np.ndarray[Any, Any] | None
    is_tensor: bool = False

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def elements(self) -> np.ndarray[Any, Any]:
        """The contents of an array that has some."""
        assert self.contents is not None, "outputs and scratch are never read before a run"
        return self.contents

    @property
    def as_given(self) -> Any:
        """What functions get that name the array: its elements in its shape, or in a row if they repeat.

        A NumPy array is read-only, and a tensor a copy, which no other function gets.
        """
        array = read_only(self.elements.reshape(self.shape if self.elements.size == self.size else (-1,)))
        return as_tensor(array) if self.is_tensor else array

    def part(self, start: int, stop: int) -> np.ndarray[Any, Any]:
        """The elements from `start` up to `stop`, shape (stop - start,)."""
        begin, length = start % self.elements.size, stop - start
        if begin + length <= self.elements.size:
            return self.elements[begin : begin + length]
        rotated = np.concatenate([self.elements[begin:], self.elements[:begin]])
        return np.tile(rotated, -(-length // rotated.size))[:length]


def read_mapping(returned: Any, where: str, example: str, read: Callable[[Any, str], Value]) -> dict[str, Value]:
    """A function's arrays by name, each made by `read` from its value and its place in messages.

    Raises UserError where the function has returned anything else than a dictionary with names as keys.
    """
    if not isinstance(returned, Mapping):
        raise UserError(f"{where} returns {_kind(returned)}. It has to return a dictionary, such as {example}.")
    for name in returned:
        if not isinstance(name, str) or not name.isidentifier() or iskeyword(name):
            raise UserError(f"{where} returns the name {name!r}. Allowed: names that a parameter could have.")
    return {name: read(value, f"{where}: {name}") for name, value in returned.items()}


def read_input(value: Any, where: str) -> ArrayValue | Scalar:
    """An input: an array, a scalar, or (shape, contents) for an array whose contents repeat.

    NumPy's scalars keep their type. Python's numbers have no width; they get the width of the kernel's parameter later.
    Raises UserError for anything else.
    """
    if isinstance(value, bool | int | float) and not isinstance(value, np.generic):
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise UserError(f"{where} is {value}, which has more than 64 bits.")
        return value
    of_torch = is_tensor(value) or (isinstance(value, tuple) and len(value) == 2 and is_tensor(value[1]))
    value = _plain_array(value, where)
    if isinstance(value, np.ndarray) and value.ndim == 0 and (of_torch or value.dtype.names):
        value = value[()]
    if isinstance(value, np.generic):
        read_dtype(value.dtype, where)
        return value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
        return _filled(read_shape(value[0], where), read_dtype(value[1].dtype, where), value[1], where, of_torch)
    if isinstance(value, np.ndarray) and value.ndim:
        shape = read_shape(value.shape, where)
        return _filled(shape, read_dtype(value.dtype, where), value, where, of_torch)
    raise UserError(f"{where} is {_kind(value)}. Allowed: a NumPy array, a number, or (shape, contents to repeat).")


def read_declared(value: Any, where: str) -> ArrayValue:
    """An output or scratch array: (shape, dtype), or (shape, dtype, initial value). UserError for anything else."""
    if not isinstance(value, tuple) or len(value) not in (2, 3):
        raise UserError(f"{where} is {_kind(value)}. Allowed: (shape, dtype) or (shape, dtype, initial value).")
    shape, dtype = read_shape(value[0], where), read_dtype(value[1], where)
    if len(value) == 2:
        return ArrayValue(dtype, shape, None)
    if isinstance(value[2], np.ndarray):
        return _filled(shape, dtype, value[2], where)
    try:
        initial = np.array(value[2], dtype).reshape(1)
    except (OverflowError, TypeError, ValueError) as error:
        raise UserError(f"{where}: the initial value {shown_value(value[2])} is no {dtype}.") from error
    if dtype.kind in "biu" and initial[0] != value[2]:
        raise UserError(f"{where}: the initial value {shown_value(value[2])} is no {dtype}.")
    return ArrayValue(dtype, shape, initial)


def read_compared(value: Any, where: str) -> ArrayValue:
    """An array or number of a reference, or of what is compared with one: any numbers. UserError for anything else."""
    shape, value = None, _plain_array(value, where)
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], np.ndarray):
        shape, value = read_shape(value[0], where), value[1]
    if not isinstance(value, np.ndarray | np.generic | bool | int | float | complex):
        raise UserError(f"{where} is {_kind(value)}. Allowed: a NumPy array, or a number.")
    array = np.asarray(value)
    if _is_small(array.dtype):
        array = array.astype(np.float64)
    if array.dtype.kind not in "biufc":
        hint = " Let the function result return its fields." if array.dtype.names else ""
        raise UserError(
            f"{where} is an array of type {array.dtype}. Allowed: integers and floating-point numbers.{hint}"
        )
    return _filled(array.shape if shape is None else shape, array.dtype, array, where)


def read_shape(shape: Any, where: str) -> tuple[int, ...]:
    """A shape as a tuple; one number for one dimension. Raises UserError where a side is no integer above 0."""
    sides = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if all(isinstance(side, int | np.integer) and not isinstance(side, bool) and side > 0 for side in sides):
        return tuple(int(side) for side in sides)
    hint = " Use // instead of /." if any(isinstance(side, float) for side in sides) else ""
    raise UserError(f"{where} has the shape {shown_value(shape)}. Allowed: integers above 0.{hint}")


def read_dtype(given: Any, where: str) -> np.dtype[Any]:
    """An element type from a NumPy type or a name, such as "float32" or "bfloat16".

    Raises UserError for a type that kernels can't have, and where the package of a type is missing.
    """
    name = given if isinstance(given, str) else getattr(given, "__name__", "")
    if name in _AMBIGUOUS and (isinstance(given, str) or given in (int, float, complex)):
        raise UserError(f"{where} has the type {name}, which is wider in NumPy than in CUDA. Write {_AMBIGUOUS[name]}.")
    try:
        if isinstance(given, str) and given in _SMALL_TYPES:
            given = getattr(importlib.import_module("ml_dtypes"), given)
        dtype: np.dtype[Any] = np.dtype(given).newbyteorder("=")
    except ImportError as error:
        how = installation("bfloat16") or "uv run --extra bfloat16 snakemake ..."
        needs = f"which needs the package ml_dtypes: pip install ml_dtypes, or {how}"
        raise UserError(f"{where} has the type {name}, {needs}") from error
    except TypeError as error:
        guess = nearest(str(given), (*_TYPES, *_SMALL_TYPES)) or "."
        raise UserError(
            f"{where} has the type {shown_value(given)}{guess} Allowed: {', '.join(_TYPES + _SMALL_TYPES)}."
        ) from error
    for name in dtype.names or ():
        read_dtype(dtype[name].base, f"{where}: the field {name}")
    if dtype.names is None and dtype.name not in _TYPES and not _is_small(dtype):
        raise UserError(
            f"{where} has the type {dtype}. Allowed: {', '.join(_TYPES + _SMALL_TYPES)}, and structures of them."
        )
    return dtype


def _is_small(dtype: np.dtype[Any]) -> bool:
    """Whether a type is bfloat16 or an 8-bit float of ml_dtypes."""
    return dtype.isbuiltin == 2 and dtype.name in _SMALL_TYPES


def _plain_array(value: Any, where: str) -> Any:
    """NumPy's array of a tensor, also where it stands beside a shape; any other value as it is."""
    if isinstance(value, tuple) and len(value) == 2:
        return value[0], _plain_array(value[1], where)
    try:
        return as_array(value)
    except TypeError as error:
        raise UserError(
            f"{where} is a tensor on {value.device}. Allowed: a tensor on the CPU, as .cpu() gives."
        ) from error


def _filled(
    shape: tuple[int, ...], dtype: np.dtype[Any], contents: np.ndarray[Any, Any], where: str, of_torch: bool = False
) -> ArrayValue:
    """An array with contents, which have its shape or are a row that repeats. Raises UserError for others."""
    repeats = contents.ndim == 1 and 0 < contents.size <= math.prod(shape)
    if contents.shape != shape and not repeats:
        raise UserError(
            f"{where} has the shape {shape}, its contents {contents.shape}. They need the same, or one row."
        )
    if not np.can_cast(contents.dtype, dtype, "safe"):
        raise UserError(f"{where} has the type {dtype}, its contents {contents.dtype}, which does not fit.")
    return ArrayValue(dtype, shape, read_only(np.ascontiguousarray(contents, dtype).reshape(-1)), of_torch)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A view of an array that a user's function can't write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def _kind(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"
