"""In the form of GPU MODE's boards: the sums of all elements up to each one, whole numbers, so that they are exact."""

import numpy as np


def generate_input(size, seed):
    return np.random.default_rng(seed).integers(-8, 9, size).astype(np.float32)


def ref_kernel(data):
    return np.cumsum(data, dtype=np.float32)
