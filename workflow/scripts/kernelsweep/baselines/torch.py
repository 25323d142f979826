"""PyTorch's sum, prod, amin and amax of a tensor, with the result where it is told to leave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from kernelsweep.baselines.libraries import Reduction

_FUNCTIONS = {"sum": torch.sum, "product": torch.prod, "minimum": torch.amin, "maximum": torch.amax}


class _Memory:
    """Memory that is somebody else's, as PyTorch takes it over without a copy."""

    def __init__(self, address: int, shape: tuple[int, ...], dtype: str) -> None:
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": np.dtype(dtype).str,
            "data": (address, False),
            "version": 3,
        }


def load(library: Path) -> Reduction:
    """Its scratch memory comes from PyTorch's own pool."""
    del library

    def reduce(operation: str, dtype: str, data: int, value: int, count: int, stream: Any) -> None:
        # Sums and products would be of 64 bits for integers of 32, if not told otherwise.
        typed = {"dtype": getattr(torch, dtype)} if operation in ("sum", "product") else {}
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
            tensor = torch.as_tensor(_Memory(data, (count,), dtype), device="cuda")
            out = torch.as_tensor(_Memory(value, (), dtype), device="cuda")
            _FUNCTIONS[operation](tensor, 0, out=out, **typed)

    return reduce
