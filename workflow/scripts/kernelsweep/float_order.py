"""Floats as integers in the same order, so that a device can compare floats of any type as integers.

A float's bits, read as a signed integer, are in the order of the floats where the sign is 0, and in the reverse order
where it is 1; turning over all bits but the sign puts the latter right. -0 comes just before 0, and NaN beyond the
infinities.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[Any]]
Order = np.ndarray[Any, np.dtype[np.signedinteger[Any]]]


def order_of(floats: Floats) -> Order:
    """The integers, as wide as the floats: an array of the same shape."""
    bits: Order = floats.view(f"i{floats.dtype.itemsize}")
    return _turned(bits)


def floats_of(order: Order, dtype: np.dtype[Any]) -> Floats:
    """The floats of a type whose order is given."""
    return _turned(order).view(dtype)


def _turned(bits: Order) -> Order:
    """The bits with all but the sign turned over where the sign is 1."""
    turned: Order = bits ^ ((bits >> (8 * bits.dtype.itemsize - 1)) & np.iinfo(bits.dtype).max)
    return turned
