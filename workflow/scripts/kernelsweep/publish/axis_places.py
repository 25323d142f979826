"""Where an axis' values stand in figures and in the answer's charts: as in the page's explorer."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

# Numbers are on a logarithmic axis where its ends are further apart than this factor. Values that are nearer to each
# other than this part of their mean distance are too near.
LOGARITHMIC_FROM, LEAST_APART = 12, 0.25


def places_of(values: Sequence[Any], are_tied: bool) -> tuple[list[float], list[bool]]:
    """Where an axis' values stand, in order, and whether a line joins each to those before.

    Words and sizes that vary together are categories, which no line joins; and so is a number too near to another, such
    as 2²⁰+3 to 2²⁰. Where that is more than a third of the numbers, all are categories.
    """
    categories = [float(place) for place in range(len(values))], [False] * len(values)
    if len(values) < 2 or are_tied or any(isinstance(value, str) for value in values):
        return categories
    numbers = [float(value) for value in values]
    scaled = list(map(math.log, numbers)) if numbers[-1] > LOGARITHMIC_FROM * numbers[0] > 0 else numbers
    apart = LEAST_APART * (scaled[-1] - scaled[0]) / (len(scaled) - 1)
    places = list(itertools.accumulate(scaled, lambda before, place: max(place, before + apart)))
    joined = [True, *(after - before >= apart for before, after in itertools.pairwise(scaled))]
    return (places, joined) if 3 * sum(joined) >= 2 * len(joined) else categories
