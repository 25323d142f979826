"""Four steps of the heat equation on a plate whose edges lose nothing."""

import numpy as np

STEPS = 4


def inputs(random, n):
    return {
        "before": 60 + 40 * random.random((n, n), np.float32),
        "power": random.random((n, n), np.float32),
    }


def outputs(n):
    return {"after": ((n, n), np.float32)}


def reference(before, power):
    here = before.astype(np.float64)
    down, across, heated, cooled = (float(np.float32(factor)) for factor in (0.1, 0.05, 0.01, 0.001))
    for _ in range(STEPS):
        around = np.pad(here, 1, "edge")
        vertical = around[:-2, 1:-1] + around[2:, 1:-1] - 2 * here
        horizontal = around[1:-1, :-2] + around[1:-1, 2:] - 2 * here
        here = here + down * vertical + across * horizontal + heated * power + cooled * (80 - here)
    return {"after": here}


def error_bound():
    """In each step some eight roundings of values of at most 200."""
    return {"after": STEPS * 8 * 200 * 2.0**-24}


def work(n):
    return {"bytes": 3 * 4 * n**2}
