"""Where an axis' values stand in figures, in the answer's charts and in the page's explorer, and names beside them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import log
from statistics import fmean
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.judge.data.words import ALIKE, power_of_two_in

# Numbers are on a logarithmic axis where its ends are further apart than this factor. Values that are nearer to each
# other than this part of their mean distance are too near.
LOGARITHMIC_FROM, LEAST_APART = 12, 0.25


def places_of(values: Sequence[Any], are_tied: bool) -> tuple[list[float], list[bool]]:
    """Where an axis' values stand, in order, and which of them a line has: of 2²⁰ and 2²⁰+3, the first.

    Of numbers that are alike, that is the one that can be halved most often, and all have its place; others that are
    too near are moved apart. Words and sizes that vary together are categories, of which a line has none; and so are
    numbers of which more than a third are too near.
    """
    categories = [float(place) for place in range(len(values))], [False] * len(values)
    if len(values) < 2 or are_tied or any(isinstance(value, str) for value in values):
        return categories
    numbers = [float(value) for value in values]
    at = list(map(log, numbers)) if numbers[-1] > LOGARITHMIC_FROM * numbers[0] > 0 else numbers
    least = LEAST_APART * (at[-1] - at[0]) / (len(at) - 1)
    if 3 * sum(after - before < least for before, after in pairwise(at)) > len(numbers):
        return categories
    starts = [
        after - before >= least or other > (1 + ALIKE) * one
        for (before, after), (one, other) in zip(pairwise(at), pairwise(numbers), strict=True)
    ]
    groups = [*accumulate(starts, initial=0)]
    standing = {
        group: max(of, key=lambda at: power_of_two_in(numbers[at]))
        for group, of in grouped(range(len(numbers)), groups.__getitem__).items()
    }
    places = [*accumulate((at[n] for n in standing.values()), lambda before, place: max(place, before + least))]
    return [places[group] for group in groups], [standing[group] == n for n, group in enumerate(groups)]


def apart(wanted: Sequence[float], rooms: Sequence[float], least: float, most: float) -> list[float]:
    """The middles of texts in order, each with its room, as near to those wanted as they can be from least to most.

    Those that would overlap stand around their mean, as in isotonic regression.
    """
    steps = [*accumulate(((before + after) / 2 for before, after in pairwise(rooms)), initial=0.0)]
    together: list[list[float]] = []
    for place, step in zip(wanted, steps, strict=bool(wanted)):
        together.append([place - step])
        while together[1:] and fmean(together[-2]) > fmean(together[-1]):
            together[-2:] = [together[-2] + together[-1]]
    pooled = [min(max(fmean(places), least), most - steps[-1]) for places in together for _ in places]
    return [place + step for place, step in zip(pooled, steps, strict=bool(wanted))]
