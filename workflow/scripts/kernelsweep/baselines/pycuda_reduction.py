"""PyCUDA's ReductionKernel, generated for each type and operation, and compiled at its first call."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from pycuda.gpuarray import GPUArray
from pycuda.reduction import ReductionKernel
from pycuda.tools import DeviceMemoryPool, dtype_to_ctype

from kernelsweep.baselines.libraries import LibraryFunction

# The operation in C; its neutral element follows from the type.
_EXPRESSIONS = {"sum": "a + b", "product": "a * b", "minimum": "min(a, b)", "maximum": "max(a, b)"}


def neutral(operation: str, dtype: str) -> str:
    """The operation's neutral element, as C writes it."""
    if operation in ("sum", "product"):
        return {"sum": "0", "product": "1"}[operation]
    element = np.dtype(dtype)
    if element.kind == "f":
        return {"minimum": "1.0 / 0.0", "maximum": "-1.0 / 0.0"}[operation]
    limits = np.iinfo(element)
    # C has no literal for the smallest number: it would be a minus sign and a number that is too large.
    return {"minimum": f"{limits.max}", "maximum": f"(-{limits.max} - 1)"}[operation]


def load() -> LibraryFunction:
    """Memory for intermediate results comes from a pool, which allocates at the first call only."""
    pool = DeviceMemoryPool()

    @functools.cache
    def kernel(operation: str, dtype: str) -> Any:
        element = np.dtype(dtype)
        return ReductionKernel(
            element,
            neutral=neutral(operation, dtype),
            reduce_expr=_EXPRESSIONS[operation],
            map_expr="x[i]",
            arguments=f"const {dtype_to_ctype(element)} *x",
        )

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        array = GPUArray((count,), np.dtype(dtype), allocator=pool.allocate, gpudata=data)
        out = GPUArray((), np.dtype(dtype), allocator=pool.allocate, gpudata=value)
        kernel(operation, dtype)(array, stream=stream, allocator=pool.allocate, out=out)

    return reduce
