"""A logarithmic axis of values, with ticks at round numbers."""

from __future__ import annotations

import itertools
import math

from matplotlib.axes import Axes

from kernelsweep.analysis.words import superscript

# The multiples of powers of ten that are ticked: the first of these that give few enough ticks for the axis' length.
TICKS = ((1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), (1.0, 1.5, 2.0, 3.0, 5.0), (1.0, 2.0, 5.0), (1.0,))
# The least distance between two ticks.
BESIDE_IN = 0.34
# The least factor that an axis covers, so that it has two ticks.
LEAST_FACTOR = 2.0
# From this number on, ticks are powers of ten: 5·10⁵.
LEAST_POWER = 1e5


def logarithmic(axes: Axes, low: float, high: float, length_in: float) -> None:
    """A logarithmic horizontal axis from `low` to `high`, about `length_in` inches long."""
    room = math.sqrt(max(1.0, LEAST_FACTOR * low / high))
    low, high = low / room, high * room
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    ticks = _ticks(low, high, length_in / BESIDE_IN)
    axes.xaxis.set_ticks(ticks, [_text(tick) for tick in ticks])
    axes.xaxis.set_ticks([], minor=True)


def _text(tick: float) -> str:
    if tick >= LEAST_POWER:
        digit, power = f"{tick:.0e}".split("e")
        return ("" if digit == "1" else f"{digit}·") + f"10{superscript(int(power))}"
    return f"{tick:,.0f}" if tick >= 1000 else f"{tick:g}"


def _ticks(low: float, high: float, most: float) -> list[float]:
    """Round numbers from `low` to `high`, each at least an equal share of the axis from the next."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    least = (high / low) ** (1 / most)
    for subs in TICKS:
        found = [sub * 10.0**decade for decade in decades for sub in subs]
        nearest = min(over / under for under, over in itertools.pairwise(found))
        if nearest >= least:
            break
    # An axis of many decades has every second or third of them.
    return [tick for tick in found[:: math.ceil(math.log(least, nearest))] if low <= tick <= high]
