"""The configuration's metrics: the counters of Nsight Compute that each is computed from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.errors import UserError, check_known

# Factors from ncu's base units to the units that a metric may have.
_FACTORS = {
    "byte": {"bytes": 1.0, "kB": 1e-3, "MB": 1e-6, "GB": 1e-9},
    "byte/s": {"GB/s": 1e-9, "TB/s": 1e-12},
    "ns": {"us": 1e-3, "ms": 1e-6, "s": 1e-9},
}

_COUNTER = re.compile(r"(?P<name>\S+)(?: \[(?P<unit>[^\]]+)\])?")


@dataclass(frozen=True)
class Counter:
    """One of Nsight Compute's metrics, with its base unit, or "" if it has none."""

    name: str
    unit: str


@dataclass(frozen=True)
class Definition:
    """A metric of the configuration.

    unit    in tables and figures
    ncu     the counter
    over    the counter that it is divided by, or None
    weight  the counter that weights the mean over launches; None if launches are summed
    factor  from ncu's base unit to `unit`
    """

    name: str
    unit: str
    ncu: Counter
    over: Counter | None
    weight: str | None
    factor: float

    @property
    def needs(self) -> list[str]:
        """The names of all its counters."""
        counters = [self.ncu.name, self.over.name if self.over else None, self.weight]
        return list(filter(None, counters))


def definitions(table: Mapping[str, Mapping[str, str]]) -> dict[str, Definition]:
    """The metrics of the configuration's checked table, by name.

    Raises UserError for a unit that doesn't follow from ncu's, and for a weighted quotient: a quotient divides sums.
    """
    return {name: _definition(name, entry) for name, entry in table.items()}


def _definition(name: str, entry: Mapping[str, str]) -> Definition:
    first, _, second = entry["ncu"].partition(" / ")
    ncu, over = _counter(first), _counter(second) if second else None
    weight = entry["combine"].removeprefix("mean by ") if entry["combine"] != "sum" else None
    if over and weight:
        raise UserError(
            f"metrics.{name}.combine is {entry['combine']!r}. Allowed for a quotient: sum, which adds up both numbers "
            "before it divides them."
        )
    return Definition(name, entry["unit"], ncu, over, weight, 1.0 if over else _factor(name, entry["unit"], ncu.unit))


def _counter(text: str) -> Counter:
    match = _COUNTER.fullmatch(text)
    assert match, f"the schema lets no {text!r} through"
    return Counter(match["name"], match["unit"] or "")


def _factor(name: str, unit: str, base: str) -> float:
    units = {base: 1.0, **_FACTORS.get(base, {})}
    scales = {scale for scales in _FACTORS.values() for scale in scales} | set(_FACTORS)
    if unit not in units and (base in _FACTORS or unit in scales):
        raise UserError(f"metrics.{name}.unit is {unit!r}. Allowed for its counter: {', '.join(filter(None, units))}.")
    return units.get(unit, 1.0)  # A count or a ratio may have a more specific name: sectors, threads.


def check_metric_names(names: Iterable[str], table: Mapping[str, object], file: str) -> None:
    """Raise UserError if a study in the file `shown` names a metric that the configuration doesn't have."""
    for name in names:
        check_known(name, table, f"{file}: metrics names", "In config/metrics.yaml")


def asked_for(chosen: Sequence[Definition]) -> list[str]:
    """The names of all counters of these metrics, each once."""
    return list(dict.fromkeys(name for definition in chosen for name in definition.needs))
