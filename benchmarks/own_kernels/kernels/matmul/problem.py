"""Matrix multiplication."""

import numpy as np

from kernelsweep import bounds

# Kernels add and multiply, so with numbers of few bits no result is rounded, and a dropped product shows.
EXACT_ON_FEW_BITS = True


def inputs(random, n):
    return {name: random.standard_normal((n, n), np.float32) for name in "AB"}


def outputs(n):
    return {"C": ((n, n), np.float32)}


def reference(A, B):
    return {"C": A.astype(np.float64) @ B}


def error_bound(A, B):
    return {"C": bounds.matmul(A, B)}


def work(n):
    return {"flops": 2 * n**3, "bytes": 3 * 4 * n**2}
