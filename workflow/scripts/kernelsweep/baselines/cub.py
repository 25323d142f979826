"""CUB's functions, compiled by nvcc from a .cu file of this folder and called through ctypes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernelsweep.baselines.libraries import LibraryFunction
from kernelsweep.errors import BuildError, LaunchError


def load(library: Path) -> LibraryFunction:
    """CUB's DeviceReduce, from cub.cu or cub_sum.cu."""
    import pycuda.driver as cuda  # Imported here, because tests call reduction() without a GPU.

    return reduction(library, cuda.mem_alloc)


def reduction(library: Path, allocate: Callable[[int], Any]) -> LibraryFunction:
    """CUB's DeviceReduce, whose temporary memory comes from `allocate`."""
    call = with_storage(library, allocate)

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        call(f"cub_{operation}_{dtype}", data, value, count, stream)

    return reduce


def with_storage(library: Path, allocate: Callable[[int], Any]) -> Callable[[str, int, int, int, Any], None]:
    """A function that calls one of the library's, by its name, with (data, result, count, stream).

    Temporary storage from `allocate` is made at the first call of a function for a count and a stream, and kept.
    Raises BuildError if the library can't be loaded; the function raises LaunchError.
    """
    try:
        loaded = ctypes.CDLL(str(library.resolve()))
        loaded.cub_error_text.restype = ctypes.c_char_p
    except (OSError, AttributeError) as error:
        raise BuildError(f"the library of CUB's functions can't be used: {error}") from error
    storages: dict[tuple[Any, ...], tuple[Any, ctypes.c_size_t]] = {}

    def checked(function: Any, storage: Any, bytes_needed: ctypes.c_size_t, *arguments: Any) -> None:
        address = ctypes.c_void_p(None if storage is None else int(storage))
        status = function(address, ctypes.byref(bytes_needed), *arguments)
        if status != 0:
            raise LaunchError(f"CUB: {loaded.cub_error_text(status).decode()}")

    def call(name: str, data: int, result: int, count: int, stream: Any) -> None:
        function = getattr(loaded, name)
        arguments = (
            ctypes.c_void_p(data),
            ctypes.c_void_p(result),
            ctypes.c_size_t(count),
            ctypes.c_void_p(stream.handle),
        )
        # One storage a stream: a call that is queued on another stream may still use its storage.
        key = (name, count, stream.handle)
        if key not in storages:
            needed = ctypes.c_size_t(0)
            checked(function, None, needed, *arguments)
            storages[key] = allocate(max(needed.value, 1)), needed
        checked(function, *storages[key], *arguments)

    return call
