"""Memory of the host between pages that nothing may touch, so that an access outside of it ends a kernel's launch."""

from __future__ import annotations

import ctypes
import mmap

import numpy as np

# The widest access that a kernel makes: an array's start is a multiple of it.
ALIGNMENT = 16

_NO_ACCESS = 0  # PROT_NONE
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def allocate(size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """`size` bytes that end at most 15 bytes before a page without access, and begin less than a page behind another.

    The operating system gets them back with the last reference. Raises MemoryError.
    """
    page = mmap.PAGESIZE
    inside = -(-size // page) * page
    try:
        region = mmap.mmap(-1, inside + 2 * page)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(
            f"{size / 1e9:.2f} GB of memory asked for, which the system doesn't give ({error})"
        ) from error
    every = np.frombuffer(region, np.uint8)
    for start in (every.ctypes.data, every.ctypes.data + page + inside):
        if _libc.mprotect(start, page, _NO_ACCESS) != 0:
            raise MemoryError(
                "the system protects no more pages: the limit of memory maps (vm.max_map_count) is too low"
            )
    begin = page + (inside - size) // ALIGNMENT * ALIGNMENT
    return every[begin : begin + size]
