"""Softmax of each row."""

from math import ceil, log2

import numpy as np

from kernelsweep import bounds


def inputs(random, rows, width):
    return {"x": 4 * random.standard_normal((rows, width), np.float32)}


def outputs(rows, width):
    return {"y": ((rows, width), np.float32)}


def reference(x):
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return {"y": powers / powers.sum(axis=1, keepdims=True)}


def error_bound(x, width, block_size_x):
    """A thread adds its elements, and scales its sum as often as its largest element grows; so do pairs of threads."""
    steps = ceil(width / block_size_x) + log2(block_size_x)
    return {"y": bounds.softmax(x, chain=steps, rescalings=steps)}


def work(rows, width):
    return {"bytes": 2 * 4 * rows * width}
