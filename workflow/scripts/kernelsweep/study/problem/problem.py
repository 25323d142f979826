"""The records of a problem: its axes, the arrays of its points, and the judgement of results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# long has 64 bits on every system that CUDA supports but Windows.
CXX_TYPES: Mapping[str, str] = {
    "int32": "int",
    "int64": "long",
    "float32": "float",
    "float64": "double",
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
}

# The bytes of an element.
ITEM_SIZES: Mapping[str, int] = {name: 2 if name == "bfloat16" else int(np.dtype(name).itemsize) for name in CXX_TYPES}


# A word of ones, repeated, is NaN in every floating-point type, and -1 in every type of integers.
ALL_ONES = 0xFFFFFFFF

# The kinds of arithmetic whose peak may be known; tf32 is that of tensor cores.
ARITHMETIC = ("float64", "float32", "float16", "int32", "tf32")

# Elements in the order in which they lie in memory, shape (count,).
Elements = np.ndarray[Any, np.dtype[Any]]

# A number that a kernel is passed. Python's have no width of their own.
Scalar = np.generic | bool | int | float

# A point: its value on each axis. A row of a result file holds these values, too.
Point = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """One axis of a study's points.

    of_kernel  whether it says how a kernel is written or launched; else it says what is computed, or under which
               condition
    has_texts  whether its values are texts instead of numbers
    """

    of_kernel: bool = False
    has_texts: bool = False


@dataclass(frozen=True)
class Judgement:
    """A problem's judgement of a kernel's results.

    mistake         what is wrong with them, or None where they are right
    relative_error  of a single float that need not be exact, against the reference
    output          the results themselves, where they are few enough to be shown
    error_share     the largest error of floats as a share of its bound, where the problem has bounds
    """

    mistake: str | None
    relative_error: float | None = None
    output: str = ""
    error_share: float | None = None


@dataclass(frozen=True)
class RightValues:
    """The right values of a result's elements, in a form in which a device can compare them.

    values  real numbers that float64 holds; they repeat where the result has more elements
    bound   how far each element may be off, or one for all, as float64. None: each has to equal its value, rounded to
            the result's type
    """

    values: Elements
    bound: Elements | None


@dataclass(frozen=True, eq=False)
class Array:
    """One array on the device, which kernels are given by name.

    size       the number of elements
    contents   its elements before every run, repeated or cut to its size; None: it is poisoned before a checked run
    updated    whether kernels change its contents, so that it is restored before every run; else a kernel that leaves
               it changed is wrong
    is_result  whether its elements are among the results where the kernel names none
    shape      where it matters, as to a texture; else all in a row

    An array of 2^32 elements costs the host no more than its contents, one repetition.
    """

    dtype: np.dtype[Any]
    size: int
    contents: Elements | None = None
    updated: bool = False
    is_result: bool = False
    shape: tuple[int, ...] = ()
