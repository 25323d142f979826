"""PyCUDA's gpuarray.sum, min and max, which return their result as a new array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool

from kernelsweep.baselines.libraries import LibraryFunction

_FUNCTIONS = {"sum": gpuarray.sum, "minimum": gpuarray.min, "maximum": gpuarray.max}


def load() -> LibraryFunction:
    """Memory for results comes from a pool. Copying the result to its address is timed as well: about 1 us."""
    pool = DeviceMemoryPool()

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        array = gpuarray.GPUArray((count,), np.dtype(dtype), allocator=pool.allocate, gpudata=data)
        result = _FUNCTIONS[operation](array, stream=stream)
        cuda.memcpy_dtod_async(value, result.gpudata, result.nbytes, stream)

    return reduce
