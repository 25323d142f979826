"""Libraries' functions, as a GPU's platform calls them in place of a kernel's launches.

A function is called with the words of a variant, the arguments of a launch, and PyCUDA's stream: arrays by their
addresses, numbers as Python's. It queues its work on the stream, and does not synchronise. The first call for some
words, sizes or a stream may compile and allocate memory.

A reduction is called with (operation, dtype, data, value, count, stream): `count` elements at the address `data`, to
one of the same type at `value`. Packages are imported where they are used, since few machines have all of them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.errors import BuildError, LaunchError

LibraryFunction = Callable[..., None]


class Cub:
    """The functions of a library that nvcc compiled from cub.cu.

    allocate  makes temporary storage, at the first call of a function for a count and a stream; it is kept

    Raises BuildError if the library can't be loaded.
    """

    def __init__(self, library: Path, allocate: Callable[[int], Any]) -> None:
        try:
            self._library = ctypes.CDLL(str(library.resolve()))
            self._library.cub_error_text.restype = ctypes.c_char_p
        except (OSError, AttributeError) as error:
            raise BuildError(f"the library of CUB's functions can't be used: {error}") from error
        self._allocate = allocate
        # One storage a stream: a call that is queued on another stream may still use its storage.
        self._storages: dict[tuple[Any, ...], tuple[Any, ctypes.c_size_t]] = {}

    def call(self, name: str, data: int, result: int, count: int, stream: Any) -> None:
        """Queue the function of this name. Raises LaunchError."""
        arguments = [ctypes.c_void_p(data), ctypes.c_void_p(result), ctypes.c_size_t(count)]
        arguments.append(ctypes.c_void_p(stream.handle))
        key = (name, count, stream.handle)
        if key not in self._storages:
            needed = ctypes.c_size_t(0)
            self._checked(name, None, needed, *arguments)
            self._storages[key] = self._allocate(max(needed.value, 1)), needed
        self._checked(name, *self._storages[key], *arguments)

    def reduce(self, operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        """Queue a reduction."""
        self.call(f"cub_{operation}_{dtype}", data, value, count, stream)

    def _checked(self, name: str, storage: Any, bytes_needed: ctypes.c_size_t, *arguments: Any) -> None:
        address = ctypes.c_void_p(None if storage is None else int(storage))
        status = getattr(self._library, name)(address, ctypes.byref(bytes_needed), *arguments)
        if status != 0:
            raise LaunchError(f"CUB: {self._library.cub_error_text(status).decode()}")


def _cub(library: Path) -> Cub:
    import pycuda.driver as cuda

    return Cub(library, cuda.mem_alloc)


class _Memory:
    """Memory that PyTorch uses without owning or copying it."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: str) -> None:
        described = {"shape": shape, "typestr": np.dtype(dtype).str, "data": (address, False), "version": 3}
        self.__cuda_array_interface__ = described


def _torch(_: Path) -> LibraryFunction:
    """Temporary memory comes from PyTorch's own pool."""
    import torch

    functions = {"sum": torch.sum, "product": torch.prod, "minimum": torch.amin, "maximum": torch.amax}

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        # By default, sums and products of 32-bit integers have 64 bits.
        typed = {"dtype": getattr(torch, dtype)} if operation in ("sum", "product") else {}
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
            array = torch.as_tensor(_Memory(data, (count,), dtype), device="cuda")
            out = torch.as_tensor(_Memory(value, (), dtype), device="cuda")
            functions[operation](array, 0, out=out, **typed)

    return reduce


def _cublas_matmul(_: Path) -> LibraryFunction:
    """C = A B by cuBLAS, through PyTorch, row by row: m x k times k x n.

    The first argument is the precision: float32, or tf32 for inputs that are rounded to TF32 on tensor cores.
    """
    import torch

    precisions = {"float32": "highest", "tf32": "high"}

    def multiply(precision: str, C: int, A: int, B: int, m: int, n: int, k: int, stream: Any) -> None:
        torch.set_float32_matmul_precision(precisions[precision])
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
            left, right, product = (
                torch.as_tensor(_Memory(address, shape, "float32"), device="cuda")
                for address, shape in ((A, (m, k)), (B, (k, n)), (C, (m, n)))
            )
            torch.mm(left, right, out=product)

    return multiply


def _cub_histogram(library: Path) -> LibraryFunction:
    """How often each value of a byte occurs among `count` bytes, as 256 uint32. CUB sets the counts to zero itself."""
    call = _cub(library).call
    return lambda counts, data, count, stream: call("cub_histogram", data, counts, count, stream)


_LOADERS: Mapping[str, Callable[[Path], LibraryFunction]] = {
    "cub": lambda library: _cub(library).reduce,
    "torch": _torch,
    "cublas_matmul": _cublas_matmul,
    "cub_histogram": _cub_histogram,
}


def load(name: str, library: Path) -> LibraryFunction:
    """A library's function in the current CUDA context, by its name in libraries.LIBRARIES.

    library  what nvcc compiled, for one of CUB's

    Raises BuildError if that library, and ImportError if a package can't be loaded.
    """
    return _LOADERS[name](library)
