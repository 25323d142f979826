"""The relations of a claim's quantity to a value, and the verdict that follows from the quantity's interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelsweep.intervals import Interval

HOLDS = "holds"
FAILS = "does not hold"
NOT_DECIDABLE = "not decidable"
UNMEASURED = "not measured"
CLAIM_VERDICTS = (HOLDS, FAILS, NOT_DECIDABLE, UNMEASURED)

# The only relation with a tolerance.
ABOUT = "about"
EQUAL = "equal"

# By name: whether the whole interval from low to high satisfies the relation to a value, and whether it contradicts it.
_Decision = Callable[[float, float, float, float], tuple[bool, bool]]
RELATIONS: Mapping[str, _Decision] = {
    ABOUT: lambda low, high, value, tolerance: (
        value - tolerance <= low and high <= value + tolerance,
        high < value - tolerance or low > value + tolerance,
    ),
    EQUAL: lambda low, high, value, _: (low == high == value, high < value or low > value),
    "at_least": lambda low, high, value, _: (low >= value, high < value),
    "at_most": lambda low, high, value, _: (high <= value, low > value),
    "above": lambda low, high, value, _: (low > value, high <= value),
    "below": lambda low, high, value, _: (high < value, low >= value),
}


# A ratio that differs from 1 by no more than this claims no change. The runs of a source differ by as much.
NO_CHANGE = 0.02


def decide(relation: str, measured: Interval, value: float, tolerance: float = 0, is_ratio: bool = False) -> str:
    """HOLDS if the whole interval satisfies the relation, FAILS if all of it contradicts it, else NOT_DECIDABLE.

    tolerance  to either side, for ABOUT, in the units of the value
    is_ratio   whether the quantity is one kernel's over another's. If its value claims a change, a ratio of 1 doesn't
               satisfy ABOUT even within the tolerance, nor does one on the other side of 1
    """
    low, high = measured.low, measured.high
    satisfied, contradicted = RELATIONS[relation](low, high, value, tolerance)
    if is_ratio and relation == ABOUT and abs(value - 1) > NO_CHANGE:
        satisfied &= low > 1 if value > 1 else high < 1
        contradicted |= high <= 1 if value > 1 else low >= 1
    return HOLDS if satisfied else FAILS if contradicted else NOT_DECIDABLE


def relation_text(relation: str, value: str, tolerance: float | None) -> str:
    """A relation to a value in words: `1.53 to 1.87`, `at least 2`."""
    if relation == ABOUT:
        assert tolerance is not None
        return f"{float(value) - tolerance:.4g} to {float(value) + tolerance:.4g}"
    return f"{'exactly' if relation == EQUAL else relation.replace('_', ' ')} {value}"
