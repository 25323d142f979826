"""C = A B for matrices of float32: m x k times k x n, all of them row by row."""

import numpy as np

# The largest relative error of one rounding: of a float32, and of a float32 to TF32, to the nearest.
FLOAT32 = 2.0**-24
TF32 = 2.0**-11


def inputs(random, m, n, k):
    """Values of both signs, so that a product left out or added twice shows."""
    return {"A": random.standard_normal((m, k), np.float32), "B": random.standard_normal((k, n), np.float32)}


def outputs(m, n):
    """The product."""
    return {"C": ((m, n), np.float32)}


def reference(A, B):
    """The product in float64."""
    return {"C": A.astype(np.float64) @ B}


def error_bound(A, B, k, precision):
    """The distance to the exact product that k roundings can make, in whatever order a kernel adds.

    float32: |fl(AB) - AB| <= gamma(k) |A| |B|, where gamma(k) = k u / (1 - k u): Higham, Accuracy and Stability of
    Numerical Algorithms, 2nd edition, (3.13). A fused multiply-add rounds once less.

    tf32: both inputs are rounded first, which gives 2 u + u^2 for each product. A tensor core then cuts off instead of
    rounding, so that an addition's error is up to 2^-23: Fasi, Higham, Mikaitis and Pranesh, Numerical behavior of
    NVIDIA tensor cores, PeerJ Computer Science 7 (2021), e330. It adds w products and the sum at once, and cuts each of
    them at the largest one's last bit: w + 1 errors for w products, so up to 2 k in all.
    """
    size = abs(A).astype(np.float64) @ abs(B)
    if precision == "float32":
        return {"C": _gamma(k, FLOAT32) * size}
    of_inputs = 2 * TF32 + TF32**2
    return {"C": (of_inputs + (1 + of_inputs) * _gamma(2 * k, 2 * FLOAT32)) * size}


def work(m, n, k, precision):
    """A multiplication and an addition for each product. A, B and C pass once between memory and the GPU."""
    return {"flops": 2 * m * n * k, "arithmetic": precision, "bytes": 4 * (m * k + k * n + m * n)}


def _gamma(count, error):
    """The relative error of `count` roundings, each of up to `error`."""
    return count * error / (1 - count * error)
