"""An image of `height` rows and `width` columns, transposed: the target has `width` rows."""

import numpy as np


def inputs(random, width, height, dtype):
    """No two rows or columns are alike, so that an element in the wrong place shows."""
    return {"source": random.random((height, width), dtype)}


def outputs(width, height, dtype):
    """The target, row by row."""
    return {"target": ((width, height), dtype)}


def reference(source):
    """Nothing is rounded, so results have to be equal."""
    return {"target": source.T}


def work(width, height, dtype):
    """Each element is read once and written once."""
    return {"bytes": 2 * width * height * np.dtype(dtype).itemsize}
