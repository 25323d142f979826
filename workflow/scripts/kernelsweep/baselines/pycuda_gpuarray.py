"""PyCUDA's gpuarray.sum, min and max, as they are called: the result is an array of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.tools import DeviceMemoryPool

from kernelsweep.baselines.libraries import Reduction

_FUNCTIONS = {"sum": gpuarray.sum, "minimum": gpuarray.min, "maximum": gpuarray.max}


def load(library: Path) -> Reduction:
    """Its results come from a pool; the copy of one element to where it is looked for is timed too, about 1 us."""
    del library
    pool = DeviceMemoryPool()

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        array = gpuarray.GPUArray((count,), np.dtype(dtype), allocator=pool.allocate, gpudata=data)
        result = _FUNCTIONS[operation](array, stream=stream)
        cuda.memcpy_dtod_async(value, result.gpudata, result.nbytes, stream)

    return reduce
