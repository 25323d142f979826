"""Matrix multiplication."""

import numpy as np


def inputs(random, n):
    return {name: random.standard_normal((n, n), np.float32) for name in "AB"}


def outputs(n):
    return {"C": ((n, n), np.float32)}


def reference(A, B):
    return {"C": A.astype(np.float64) @ B}


def error_bound(A, B, n):
    """gamma(n) |A| |B|: Higham, 2nd edition, (3.13)."""
    u = 2.0**-24
    return {"C": n * u / (1 - n * u) * (abs(A).astype(np.float64) @ abs(B))}


def work(n):
    return {"flops": 2 * n**3, "bytes": 3 * 4 * n**2}
