"""Products of two arrays of float32, and the sum of each block of them."""

import numpy as np


def inputs(random, n):
    return {name: random.random(n, np.float32) for name in ("first", "second")}


def outputs(n, side):
    return {"products": ((n,), np.float32), "partials": ((-(-n // side),), np.float32)}


def reference(first, second, n, side):
    products = first.astype(np.float64) * second
    return {"products": products, "partials": np.add.reduceat(products, np.arange(0, n, side))}


def error_bound(expected, side):
    """Positive terms: a product is rounded once, a sum once a level, and at most `side` times."""
    u = 2.0**-24
    return {name: (side + 1) * u * values for name, values in expected.items()}
