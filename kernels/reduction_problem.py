"""An array's elements combined into one value: their sum, product, minimum or maximum.

A kernel leaves the value, or a partial result for each thread block, which the host combines. An array repeats a tile,
so that its reference follows from the tile's.
"""

from fractions import Fraction

import numpy as np

from kernelsweep import bounds

# The length of the tile: a prime, so that a block that reads the wrong part combines other elements.
TILE_LENGTH = 1_048_573

COMBINE = {"sum": np.add, "product": np.multiply, "minimum": np.minimum, "maximum": np.maximum}


def inputs(random, array_size, dtype, operation):
    """Random elements, such that each dropped one changes a sum or a product.

    Integers to add are from 0 to 255, as in a published sum; factors are odd, because even ones would soon make every
    product 0 modulo 2^bits. Floats to add are uniform in [0, 1), and factors are 1 and -1, whose products are exact. A
    minimum or a maximum shows the loss of one element only: half of the inputs have it at the end of the tile, where
    elements are lost most often.
    """
    element, count = np.dtype(dtype), min(array_size, TILE_LENGTH)
    if operation in ("minimum", "maximum"):
        tile = _of_any_size(random, element, count)
        if random.integers(2):
            tile = np.sort(tile) if operation == "maximum" else np.sort(tile)[::-1].copy()
    elif element.kind == "i":
        tile = random.integers(0, 256, count, np.uint8).astype(element)
        tile = tile | 1 if operation == "product" else tile
    elif operation == "sum":
        tile = random.random(count, element)
    else:
        tile = random.choice(np.array([-1, 1], element), count)
    return {"data": (array_size, tile)}


def _of_any_size(random, element, count):
    if element.kind == "f":
        return random.standard_normal(count).astype(element)
    limits = np.iinfo(element)
    return random.integers(limits.min, limits.max, count, element, endpoint=True)


def outputs(dtype):
    """The value, for kernels that leave one."""
    return {"value": (1, dtype)}


def result(outputs, operation):
    """What a kernel leaves, combined on the host; a sum with more digits than any element type has."""
    (values,) = outputs.values()
    if values.dtype.kind == "f" and operation == "sum":
        return {"value": values.astype(np.longdouble).sum()}
    with np.errstate(over="ignore"):
        return {"value": COMBINE[operation].reduce(values, dtype=values.dtype)}


def reference(data, array_size, operation):
    """The tile's elements combined as often as they repeat: modulo 2^bits for integers, exactly rounded for floats."""
    repeats, rest = divmod(array_size, data.size)
    if data.dtype.kind == "f" and operation == "sum":
        return {"value": float(exact_sum(data[:rest]) + (repeats * exact_sum(data) if repeats else 0))}
    parts = [COMBINE[operation].reduce(data[:rest], dtype=data.dtype)] if rest else []
    if repeats:
        parts.append(_repeated(COMBINE[operation].reduce(data, dtype=data.dtype), repeats, operation))
    with np.errstate(over="ignore"):
        return {"value": COMBINE[operation].reduce(np.array(parts, data.dtype), dtype=data.dtype)}


def _repeated(value, times, operation):
    """A value combined with itself, as an element of its type."""
    if operation in ("minimum", "maximum"):
        return value
    if value.dtype.kind == "f":  # A product of 1 and -1.
        return value ** (times % 2 or 2)
    modulus = 2 ** (8 * value.dtype.itemsize)
    exact = int(value) * times if operation == "sum" else pow(int(value), times, modulus)
    return value.dtype.type((exact + modulus // 2) % modulus - modulus // 2)


def error_bound(expected, array_size, dtype, operation, roundings):
    """How far a sum of floats may be from the exact one; everything else is exact.

    All elements are positive, so that the sum of their magnitudes is the reference, which is rounded once, as is what
    the host combines.
    """
    if np.dtype(dtype).kind != "f" or operation != "sum":
        return {}
    share = bounds.additions(array_size, dtype, chain=roundings) + 2 * bounds.unit("float64")
    return {"value": share * float(expected["value"])}


def work(array_size, dtype):
    """Each element is read once."""
    return {"bytes": array_size * np.dtype(dtype).itemsize}


def launches(kernel, Launch, array_size, block_size, unroll):
    """The launches of kernels that need more of them for more elements; the studies list the others'."""
    if kernel == "halving":
        return _halving(Launch, array_size, block_size)
    found, source, count = [], "data", array_size
    while not found or count > 1:
        blocks = -(-count // (block_size * unroll))
        target = "value" if blocks == 1 else ("partials", "further_partials")[len(found) % 2]
        found.append(Launch(grid=blocks, block=block_size, arguments=[source, target, count]))
        source, count = target, blocks
    return found


def _halving(Launch, count, block_size):
    """A launch for each halving, which adds the upper half of what is left to the lower half."""
    found = []
    while count > 1:
        half = (count + 1) // 2
        block = min(block_size, count - half)
        found.append(Launch(grid=-(-(count - half) // block), block=block, arguments=["data", count, half]))
        count = half
    # An array of one element is its own result. The launch finds nothing to add.
    return found or [Launch(grid=1, block=1, arguments=["data", 1, 1])]


def exact_sum(values):
    """The sum of up to 2^26 floats without rounding. As a float it is math.fsum's, in a hundredth of the time."""
    if not len(values):
        return Fraction(0)
    wide = values.astype(np.float64)
    with np.errstate(over="ignore"):
        integers = wide * 2.0**53
    if abs(integers).max() < 2.0**53 and (integers == np.trunc(integers)).all():  # True for uniform random numbers.
        return Fraction(_sum_of_integers(integers.astype(np.int64)), 2**53)
    # Each value is an integer of up to 53 bits times a power of two. Integers of the same power are added up.
    mantissas, exponents = np.frexp(wide)
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    sums = [
        _sum_of_integers(integers[exponents == power]) * Fraction(2) ** (int(power) - 53)
        for power in np.unique(exponents)
    ]
    return sum(sums, Fraction(0))


def _sum_of_integers(integers):
    """The sum of up to 2^26 integers of up to 53 bits, in two halves whose sums have less than 64 bits."""
    return int((integers >> 27).sum()) * 2**27 + int((integers & (2**27 - 1)).sum())
