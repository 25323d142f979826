"""Each thread's elements go to another lane of its warp, by CUDA's rules for __shfl_*_sync, and nothing else changes.

Source: CUDA C++ Programming Guide, "Warp Shuffle Functions". A warp's lanes form groups of `width` neighbours. A lane
that would read from outside its group keeps its own value, but for an exclusive or, which may reach into an earlier
group. `arguments` are a kernel's template arguments in words, such as "lane_mask=1 first=0 second=3".
"""

import numpy as np

LANES = 32

# The kernels whose exchange is __shfl_xor_sync; the last two exchange single elements of a thread's four.
BUTTERFLIES = ("butterfly", "butterfly_array", "butterfly_swap", "butterfly_swap_twice")
SWAPS = ("butterfly_swap", "butterfly_swap_twice")
ROTATIONS = ("rotate", "rotations", "shared_rotations", "barrier_rotations")


def inputs(array_size, dtype):
    """Element i is the number i."""
    return {"data": np.arange(array_size).astype(dtype)}


def outputs(array_size, dtype):
    """One element for each."""
    return {"output": (array_size, dtype)}


def reference(data, kernel, array_size, block_size, unroll, width, arguments):
    """The right elements. Threads past the array's end hold zeros."""
    span = block_size * unroll
    blocks = -(-array_size // span)
    padded = np.zeros(blocks * span, data.dtype)
    padded[:array_size] = data
    sources = source_elements(kernel, width, _numbers(arguments), block_size, unroll)
    return {"output": padded.reshape(blocks, span)[:, sources].ravel()[:array_size]}


def work(array_size, dtype):
    """Each element is read once."""
    return {"bytes": array_size * np.dtype(dtype).itemsize}


def source_elements(kernel, width, numbers, block_size, elements_a_thread):
    """The input element that each output element of a thread block is, shape (block_size * elements_a_thread,).

    Thread t holds the elements from t * elements_a_thread on.
    """
    threads = np.arange(block_size)
    lanes = threads % LANES
    sources = threads - lanes + source_lanes(kernel, width, numbers)[lanes]
    own = threads[:, None] * elements_a_thread + np.arange(elements_a_thread)
    if kernel not in SWAPS:
        return own[sources].ravel()
    is_lower = lanes < (lanes ^ numbers["lane_mask"])
    exchanged = np.where(is_lower, numbers["first"], numbers["second"])
    own[threads, exchanged] = own[sources, exchanged[sources]]
    return own.ravel()


def source_lanes(kernel, width, numbers):
    """The lane from which each lane of a warp receives its value, shape (32,).

    numbers  source_lane, delta, offset or lane_mask, depending on the kernel
    """
    lanes = np.arange(LANES)
    in_group = lanes % width
    start = lanes - in_group
    if kernel == "broadcast":
        return start + numbers["source_lane"] % width
    if kernel in ROTATIONS:
        return start + (in_group + numbers["offset"] * numbers.get("times", 1)) % width
    if kernel == "shift_up":
        return np.where(in_group >= numbers["delta"], lanes - numbers["delta"], lanes)
    if kernel == "shift_down":
        return np.where(in_group + numbers["delta"] < width, lanes + numbers["delta"], lanes)
    if kernel in BUTTERFLIES:
        partners = lanes ^ numbers["lane_mask"]
        return np.where(partners < start + width, partners, lanes)
    raise ValueError(
        f"{kernel!r} is no exchange; known are broadcast, rotate, *rotations, shift_up, shift_down, butterfly*"
    )


def _numbers(arguments):
    return {name: int(value) for name, value in (word.split("=") for word in arguments.split())}
