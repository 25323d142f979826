"""An image of float32, filtered along its rows and its columns with the same weights. Pixels outside of it are zero."""

import numpy as np

from kernelsweep import bounds

# Kernels add and multiply, so with numbers of few bits no result is rounded, and a dropped product shows.
EXACT_ON_FEW_BITS = True

ROWS = 32


def inputs(random, width, height, radius):
    """Weights that are not symmetric, so that a filter in the wrong direction shows, and none near zero."""
    return {
        "image": random.random((height, width), np.float32),
        "weights": random.uniform(0.5, 1.5, 2 * radius + 1).astype(np.float32),
    }


def scratch(width, height):
    """The image after the first of two passes."""
    return {"middle": ((height, width), np.float32)}


def outputs(width, height):
    """The filtered image."""
    return {"result": ((height, width), np.float32)}


def reference(image, weights):
    """The rows and then the columns in float64, some rows at a time: what is made of them stays in the cache."""
    (height, width), radius, weights = image.shape, weights.size // 2, weights.astype(np.float64)
    padded = np.pad(image, radius)
    result = np.empty((height, width))
    for start in range(0, height, ROWS):
        rows = min(ROWS, height - start)
        part = padded[start : start + rows + 2 * radius].astype(np.float64)
        along_rows = sum(weight * part[:, k : k + width] for k, weight in enumerate(weights))
        result[start : start + rows] = sum(weight * along_rows[k : k + rows] for k, weight in enumerate(weights))
    return {"result": result}


def error_bound(expected, radius):
    """The distance to the exact result that the roundings can make.

    A term is multiplied and then added to up to 2 * radius others, and that twice. All terms are positive.
    """
    return {"result": bounds.gamma(2 * (2 * radius + 1), "float32") * expected["result"]}


def work(width, height, radius):
    """The image passes once between memory and the GPU, in each direction. The arithmetic is that of two passes."""
    flops = 4 * (2 * radius + 1) * width * height
    return {"flops": flops, "arithmetic": "float32", "bytes": 2 * 4 * width * height}
