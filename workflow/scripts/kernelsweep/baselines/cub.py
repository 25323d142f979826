"""CUB's DeviceReduce, compiled by nvcc from cub.cu and called through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelsweep.baselines.libraries import ReduceFunction
from kernelsweep.errors import BuildError, LaunchError


def load(library: Path) -> ReduceFunction:
    """Allocate temporary storage at the first call for an operation, a type, a count and a stream, and keep it."""
    import pycuda.driver as cuda  # Imported here, because tests call reduction() without a GPU.

    return reduction(library, cuda.mem_alloc)


def reduction(library: Path, allocate: Callable[[int], Any]) -> ReduceFunction:
    """The same as load(), with memory from `allocate`."""
    try:
        loaded = ctypes.CDLL(str(library.resolve()))
        loaded.cub_error_text.restype = ctypes.c_char_p
    except (OSError, AttributeError) as error:
        raise BuildError(f"the library of CUB's reductions can't be used: {error}") from error
    storages: dict[tuple[Any, ...], tuple[Any, ctypes.c_size_t]] = {}

    def call(function: Any, storage: Any, bytes_needed: ctypes.c_size_t, *arguments: Any) -> None:
        address = ctypes.c_void_p(None if storage is None else int(storage))
        status = function(address, ctypes.byref(bytes_needed), *arguments)
        if status != 0:
            raise LaunchError(f"CUB: {loaded.cub_error_text(status).decode()}")

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        function = getattr(loaded, f"cub_{operation}_{dtype}")
        arguments = (
            ctypes.c_void_p(data),
            ctypes.c_void_p(value),
            ctypes.c_size_t(count),
            ctypes.c_void_p(stream.handle),
        )
        # One storage a stream: a call that is queued on another stream may still use its storage.
        key = (operation, dtype, count, stream.handle)
        if key not in storages:
            needed = ctypes.c_size_t(0)
            call(function, None, needed, *arguments)
            storages[key] = allocate(max(needed.value, 1)), needed
        call(function, *storages[key], *arguments)

    return reduce
