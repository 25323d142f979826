"""CuPy's sum, prod, min and max of an array, with the result where it is told to leave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cupy
import numpy as np

from kernelsweep.baselines.libraries import Reduction

_FUNCTIONS = {"sum": "sum", "product": "prod", "minimum": "min", "maximum": "max"}


def _array(address: int, shape: tuple[int, ...], dtype: str) -> Any:
    """Memory that is somebody else's, as an array."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(address, size, None)
    return cupy.ndarray(shape, np.dtype(dtype), cupy.cuda.MemoryPointer(memory, 0))


def load(library: Path) -> Reduction:
    """Its scratch memory comes from CuPy's own pool."""
    del library

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        # Sums and products would be of 64 bits for integers of 32, if not told otherwise.
        typed = {"dtype": np.dtype(dtype)} if operation in ("sum", "product") else {}
        with cupy.cuda.ExternalStream(stream.handle):
            function = getattr(_array(data, (count,), dtype), _FUNCTIONS[operation])
            function(out=_array(value, (), dtype), **typed)

    return reduce
