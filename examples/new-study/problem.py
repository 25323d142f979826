"""y = factor x, in float32. Each function names what it needs, and gets it: the study's axes, or arrays by name."""

import numpy as np

from kernelsweep import bounds


def inputs(random, n):
    return {"x": random.standard_normal(n, np.float32), "factor": np.float32(0.3)}


def outputs(n):
    return {"y": (n, np.float32)}


def reference(x, factor):
    return {"y": np.float64(factor) * x}


def error_bound(expected):
    """One product, rounded once."""
    return {"y": bounds.rounded(expected["y"], "float32")}


def work(n):
    return {"bytes": 2 * 4 * n, "flops": n}
