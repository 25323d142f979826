"""cuBLAS's product of two matrices of float32, through PyTorch, or through CuPy where PyTorch isn't there."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from kernelsweep.baselines.libraries import LibraryFunction

# The precision of the products, as each package calls it.
_OF_TORCH = {"float32": "highest", "tf32": "high"}
_OF_CUBLAS = {"float32": "CUBLAS_DEFAULT_MATH", "tf32": "CUBLAS_TF32_TENSOR_OP_MATH"}


def load() -> LibraryFunction:
    """C = A B, row by row: m x k times k x n.

    The first argument is the precision: float32, or tf32 for inputs that are rounded to TF32 on tensor cores.
    """
    return _of_torch() if importlib.util.find_spec("torch") is not None else _of_cupy()


def _of_torch() -> LibraryFunction:
    import torch

    from kernelsweep.baselines.torch import tensor_at

    def multiply(precision: str, C: int, A: int, B: int, m: int, n: int, k: int, stream: Any) -> None:
        torch.set_float32_matmul_precision(_OF_TORCH[precision])
        with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
            shapes = ((A, (m, k)), (B, (k, n)), (C, (m, n)))
            left, right, product = (tensor_at(address, shape, "float32") for address, shape in shapes)
            torch.mm(left, right, out=product)

    return multiply


def _of_cupy() -> LibraryFunction:
    import cupy
    from cupy_backends.cuda.libs import cublas

    one, zero = np.ones(1, np.float32), np.zeros(1, np.float32)

    def multiply(precision: str, C: int, A: int, B: int, m: int, n: int, k: int, stream: Any) -> None:
        handle = cupy.cuda.device.get_cublas_handle()
        cublas.setMathMode(handle, getattr(cublas, _OF_CUBLAS[precision]))
        # cuBLAS reads matrices column by column. So it multiplies the transposed matrices, in the other order.
        plain = cublas.CUBLAS_OP_N
        with cupy.cuda.ExternalStream(stream.handle):
            scales = one.ctypes.data, zero.ctypes.data
            cublas.sgemm(handle, plain, plain, n, m, k, scales[0], B, n, A, k, scales[1], C, n)

    return multiply
