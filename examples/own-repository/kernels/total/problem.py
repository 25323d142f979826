"""The total of n numbers. Blocks add the numbers, then the sums of the blocks, until one sum is left."""

from math import ceil, log2

import numpy as np

from kernelsweep import bounds


def inputs(random, n):
    return {"values": random.random(n, np.float32)}


def outputs():
    return {"total": (1, np.float32)}


def scratch(n, block):
    blocks = ceil(n / block)
    return {"sums_0": (blocks, np.float32), "sums_1": (blocks, np.float32)}


def reference(values):
    return {"total": np.array([values.sum(dtype=np.float64)])}


def error_bound(values, n, block):
    """Each number goes through log2(block) additions a launch."""
    return {"total": bounds.total(values, chain=len(_counts(n, block)) * log2(block))}


def work(n):
    return {"bytes": 4 * n}


def launches(n, block, Launch):
    """One launch after another over the sums of the one before; the last has one block."""
    found, source = [], "values"
    for count in _counts(n, block):
        target = "total" if count <= block else f"sums_{len(found) % 2}"
        grid, arguments = ceil(count / block), [target, source, count]
        found.append(Launch(kernel=f"block_sums<{block}>", grid=grid, block=block, arguments=arguments))
        source = target
    return found


def _counts(n, block):
    """How many numbers each launch adds."""
    return [n, *_counts(ceil(n / block), block)] if n > block else [n]
