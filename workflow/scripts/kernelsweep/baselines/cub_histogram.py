"""CUB's histogram of bytes, compiled by nvcc from cub_histogram.cu."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kernelsweep.baselines.cub import with_storage
from kernelsweep.baselines.libraries import LibraryFunction


def load(library: Path) -> LibraryFunction:
    """How often each value of a byte occurs among `count` bytes, as 256 uint32. CUB sets the counts to zero itself."""
    import pycuda.driver as cuda

    call = with_storage(library, cuda.mem_alloc)

    def histogram(counts: int, data: int, count: int, stream: Any) -> None:
        call("cub_histogram", data, counts, count, stream)

    return histogram
