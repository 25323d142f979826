"""C = A B for matrices of float32: m x k times k x n, all of them row by row."""

import numpy as np

from kernelsweep import bounds

# Kernels add and multiply, so with numbers of few bits no result is rounded, and a dropped product shows.
EXACT_ON_FEW_BITS = True


def inputs(random, m, n, k):
    """Values of both signs, so that a product left out or added twice shows."""
    return {"A": random.standard_normal((m, k), np.float32), "B": random.standard_normal((k, n), np.float32)}


def outputs(m, n):
    """The product."""
    return {"C": ((m, n), np.float32)}


def reference(A, B):
    """The product in float64."""
    return {"C": A.astype(np.float64) @ B}


def error_bound(A, B, precision):
    """The distance to the exact product that roundings can make, in whatever order a kernel adds."""
    on_tensor_cores = {"inputs": "tf32", "tensor_cores": True} if precision == "tf32" else {}
    return {"C": bounds.matmul(A, B, **on_tensor_cores)}


def work(m, n, k, precision):
    """A multiplication and an addition for each product. A, B and C pass once between memory and the GPU."""
    return {"flops": 2 * m * n * k, "arithmetic": precision, "bytes": 4 * (m * k + k * n + m * n)}
