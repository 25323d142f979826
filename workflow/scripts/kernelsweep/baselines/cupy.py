"""CuPy's sum, prod, min and max of an array, which write their result to a given address."""

from __future__ import annotations

from typing import Any

import cupy
import numpy as np

from kernelsweep.baselines.libraries import LibraryFunction

_FUNCTIONS = {"sum": "sum", "product": "prod", "minimum": "min", "maximum": "max"}


def _array(address: int, shape: tuple[int, ...], dtype: str) -> Any:
    """An array on memory that CuPy does not own."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(address, size, None)
    return cupy.ndarray(shape, np.dtype(dtype), cupy.cuda.MemoryPointer(memory, 0))


def load() -> LibraryFunction:
    """Temporary memory comes from CuPy's own pool."""

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        # By default, sums and products of 32-bit integers have 64 bits.
        typed = {"dtype": np.dtype(dtype)} if operation in ("sum", "product") else {}
        with cupy.cuda.ExternalStream(stream.handle):
            function = getattr(_array(data, (count,), dtype), _FUNCTIONS[operation])
            function(out=_array(value, (), dtype), **typed)

    return reduce
