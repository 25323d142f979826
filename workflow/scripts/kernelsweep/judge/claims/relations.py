"""What a claim may say of a quantity, and which verdict follows from the quantity's interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kernelsweep.intervals import Interval

HOLDS = "holds"
FAILS = "does not hold"
UNDECIDED = "not decidable"
NOT_MEASURED = "not measured"
VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_MEASURED)

# The relation that allows for a tolerance.
ABOUT = "about"
EQUAL = "equal"

# By name: whether a whole interval from low to high satisfies the relation to a value, and whether it contradicts it.
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


def decide(relation: str, measured: Interval, value: float, tolerance: float = 0) -> str:
    """HOLDS where the whole interval satisfies the relation, FAILS where all of it contradicts it, else UNDECIDED.

    tolerance  of ABOUT, to either side, in the units of the value
    """
    satisfied, contradicted = RELATIONS[relation](measured.low, measured.high, value, tolerance)
    return HOLDS if satisfied else FAILS if contradicted else UNDECIDED


def wanted(relation: str, value: str, tolerance: float | None) -> str:
    """What a claim says of its quantity, in words: `about 1.7 ± 0.17`, `above 1`."""
    if relation == ABOUT:
        return f"about {value} ± {tolerance:g}"
    return f"{'exactly' if relation == EQUAL else relation.replace('_', ' ')} {value}"
