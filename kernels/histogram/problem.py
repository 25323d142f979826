"""The number of times that each value of a byte occurs in an array of bytes."""

import numpy as np

# The length of what a large array repeats: a prime, so that a block that reads the wrong part counts other bytes.
TILE_LENGTH = 4_194_301


def inputs(random, array_size, spread):
    """Bytes of `spread` different values, all equally likely, and spread over the bins. Large arrays repeat."""
    values = random.permutation(256).astype(np.uint8)[:spread]
    return {"data": (array_size, values[random.integers(0, spread, min(array_size, TILE_LENGTH))])}


def outputs():
    """The counts, which kernels add to, so that they are zero before every run."""
    return {"counts": (256, np.uint32, 0)}


def reference(data, array_size):
    """Integers, so results have to be equal. `data` is the part that repeats."""
    whole, rest = divmod(array_size, data.size)
    return {"counts": whole * np.bincount(data, minlength=256) + np.bincount(data[:rest], minlength=256)}


def work(array_size):
    """Each byte is read once."""
    return {"bytes": array_size}
