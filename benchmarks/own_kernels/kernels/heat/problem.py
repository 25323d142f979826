"""Four steps of the heat equation on a plate whose edges lose nothing."""

import numpy as np

from kernelsweep import bounds

STEPS = 4
DOWN, ACROSS, HEATED, COOLED, OUTSIDE = (float(np.float32(factor)) for factor in (0.1, 0.05, 0.01, 0.001, 80))


def inputs(random, n):
    return {
        "before": 60 + 40 * random.random((n, n), np.float32),
        "power": random.random((n, n), np.float32),
    }


def outputs(n):
    return {"after": ((n, n), np.float32)}


def reference(before, power):
    here = before.astype(np.float64)
    for _ in range(STEPS):
        around = np.pad(here, 1, "edge")
        vertical = around[:-2, 1:-1] + around[2:, 1:-1] - 2 * here
        horizontal = around[1:-1, :-2] + around[1:-1, 2:] - 2 * here
        here = here + DOWN * vertical + ACROSS * horizontal + HEATED * power + COOLED * (OUTSIDE - here)
    return {"after": here}


def error_bound(before, power):
    """A step adds terms that are rounded up to seven times each, and an eighth for the errors in what they are made of.

    It makes no earlier error larger, because the new value is a mean of the old ones, which is cooled.
    """
    most = max(before.max(), OUTSIDE) + STEPS * HEATED * power.max()
    terms = most + 4 * DOWN * most + 4 * ACROSS * most + HEATED * power.max() + COOLED * (OUTSIDE + most)
    return {"after": STEPS * bounds.gamma(8, "float32") * terms}


def work(n):
    return {"bytes": 3 * 4 * n**2}
