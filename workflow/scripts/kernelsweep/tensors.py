"""PyTorch's tensors on the CPU, where functions of problem files take and return them, as NumPy's arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor. PyTorch is not imported for it."""
    return hasattr(value, "detach") and hasattr(value, "numpy")


def as_array(value: Any) -> Any:
    """NumPy's array of a tensor, and any other value as it is.

    bfloat16 and the types of 8 bits become those of ml_dtypes. Raises TypeError for a tensor that is not on the CPU.
    """
    if not is_tensor(value):
        return value
    tensor = value.detach()
    try:
        return tensor.numpy()
    except TypeError:
        if str(tensor.device) != "cpu":
            raise
        import ml_dtypes

        # float32 holds all their values.
        return tensor.float().numpy().astype(getattr(ml_dtypes, str(tensor.dtype).removeprefix("torch.")))


def as_tensor(array: np.ndarray[Any, Any] | np.generic) -> Any:
    """A tensor of its own with an array's elements. PyTorch has been imported by who asks for one."""
    torch = sys.modules["torch"]
    if array.dtype.isbuiltin == 2:  # a type of ml_dtypes, which PyTorch doesn't know
        return torch.from_numpy(array.astype(np.float32)).to(getattr(torch, array.dtype.name))
    return torch.from_numpy(np.array(array))
