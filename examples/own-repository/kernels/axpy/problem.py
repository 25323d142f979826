"""y = a x + y in float32, in place."""

import numpy as np

from kernelsweep import bounds

# Kernels add and multiply, so with numbers of few bits no result is rounded, and a dropped product shows.
EXACT_ON_FEW_BITS = True


def inputs(random, n):
    return {
        "a": np.float32(1.5),
        "x": random.random(n, np.float32),
        "y": random.random(n, np.float32),
    }


def outputs(n):
    return {"y": ((n,), np.float32)}


def reference(a, x, y):
    return {"y": np.float64(a) * x + y}


def error_bound(expected):
    """A product and a sum of positive numbers, each rounded once."""
    return {"y": bounds.gamma(2, "float32") * expected["y"]}


def work(n):
    return {"bytes": 3 * 4 * n, "flops": 2 * n}
