"""PyTorch's sum, prod, amin and amax of a tensor, which write their result to a given address."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from kernelsweep.baselines.libraries import LibraryFunction

_FUNCTIONS = {"sum": torch.sum, "product": torch.prod, "minimum": torch.amin, "maximum": torch.amax}


class _Memory:
    """Memory that PyTorch uses without owning or copying it."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: str) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (address, False),
            "version": 3,
        }


def tensor_at(address: int, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
    """A tensor, row by row, on memory that PyTorch does not own."""
    return torch.as_tensor(_Memory(address, shape, dtype), device="cuda")


def load() -> LibraryFunction:
    """Temporary memory comes from PyTorch's own pool."""

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        # By default, sums and products of 32-bit integers have 64 bits.
        typed = {"dtype": getattr(torch, dtype)} if operation in ("sum", "product") else {}
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
            tensor = tensor_at(data, (count,), dtype)
            _FUNCTIONS[operation](tensor, 0, out=tensor_at(value, (), dtype), **typed)

    return reduce
