"""A claim: one statement about a study's kernels, read from resources/published/claims.csv or a study's YAML."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from math import inf, nextafter
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, check_known
from kernelsweep.judge.data.published import OUTPUT, SPEEDUP
from kernelsweep.results import LIMIT_PREFIX, finite, read_rows
from kernelsweep.statistics import Interval
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.settings import ClaimSettings, StudySettings, YamlFile

HOLDS = "holds"
FAILS = "does not hold"
NOT_DECIDABLE = "not decidable"
UNMEASURED = "not measured"
# What a claim on a metric is in place of that, before and after a run that counts.
NEEDS_COUNTS, NEEDS_COUNTERS = "needs counts", "needs counters"
# Of a claim about every size, which sizes decide differently. In files the sizes stand in its place.
SOME_SIZES = "holds at some sizes"
CLAIM_VERDICTS = (HOLDS, FAILS, SOME_SIZES, NOT_DECIDABLE, UNMEASURED)

# The cause of a claim that does not hold, if none is known; and the one that can't be on the source's own device.
UNKNOWN_CAUSE = "cause not known"
OTHER_HARDWARE = "other hardware"

# The source of what nobody has published: an aim of our own for the kernels.
GOAL = "goal"

# The only relation with a tolerance.
ABOUT = "about"
EQUAL = "equal"

# A ratio that differs from 1 by no more than this claims no change. The runs of a source differ by as much.
NO_CHANGE = 0.02


def anchor(claim: str) -> str:
    """The anchor, in a page, of the claim with an id."""
    return "claim-" + re.sub(r"\W", "-", claim)


def allowed(relation: str, value: float, tolerance: float = 0, is_ratio: bool = False) -> tuple[float, float]:
    """The ends of the range that satisfies a relation.

    tolerance  to either side, for ABOUT, in the units of the value
    is_ratio   whether the quantity is one kernel's over another's. If its value claims a change, a ratio of 1 doesn't
               satisfy ABOUT even within the tolerance, nor does one on the other side of 1
    """
    least, most = {
        ABOUT: (value - tolerance, value + tolerance),
        EQUAL: (value, value),
        "at_least": (value, inf),
        "at_most": (-inf, value),
        "above": (nextafter(value, inf), inf),
        "below": (-inf, nextafter(value, -inf)),
    }[relation]
    if is_ratio and relation == ABOUT and abs(value - 1) > NO_CHANGE:
        least, most = (max(least, nextafter(1, inf)), most) if value > 1 else (least, min(most, nextafter(1, -inf)))
    return least, most


def decide(relation: str, measured: Interval, value: float, tolerance: float = 0, is_ratio: bool = False) -> str:
    """HOLDS if the whole interval is in the range that is allowed(), FAILS if all is outside, else NOT_DECIDABLE."""
    least, most = allowed(relation, value, tolerance, is_ratio)
    if least <= measured.low and measured.high <= most:
        return HOLDS
    return FAILS if measured.high < least or measured.low > most else NOT_DECIDABLE


# The array size of a claim whose source names none: it is judged at every size of the sweep.
EVERY_SIZE = "every"

# The published claims in the project. Their columns are the keys of a claim in a study's YAML, with `study` and `code`.
CLAIMS_FILE = "resources/published/claims.csv"
# The sources by name: columns source, title, language, hardware.
SOURCES_FILE = "resources/published/sources.csv"
_REFERENCE = "reference_"


class NotMeasured(Exception):
    """A claim's quantity is missing; the text says why."""


class Claim(ClaimSettings):
    """One statement, with an id that is unique among all claims."""

    study: str
    code: str = ""
    """"ours", "not printed" or "our reading" if a side is not the code that the source prints."""

    @property
    def axes(self) -> dict[str, Any]:
        """The kernel's values on axes."""
        further = (self.model_extra or {}).items()
        return {axis: value for axis, value in further if not axis.startswith(_REFERENCE)}

    @property
    def reference_axes(self) -> dict[str, Any]:
        """The reference kernel's values on axes."""
        further = (self.model_extra or {}).items()
        return {axis.removeprefix(_REFERENCE): value for axis, value in further if axis.startswith(_REFERENCE)}

    @property
    def published(self) -> str:
        """The source's value: a number, or the elements of an output."""
        return self.value if isinstance(self.value, str) else f"{self.value:g}"

    @property
    def holds_if(self) -> str:
        """What the quantity has to be, in words: `1.53 to 1.87`, `0.905 to below 1`, `at least 2`."""
        if self.quantity == OUTPUT:
            return "these elements"
        if self.relation == ABOUT:
            least, most = allowed(ABOUT, float(self.value), self.tolerance or 0, bool(self.reference_kernel))
            above, below = "above " * (least == nextafter(1, inf)), "below " * (most == nextafter(1, -inf))
            return f"{above}{least:.4g} to {below}{most:.4g}"
        return f"{'exactly' if self.relation == EQUAL else self.relation.replace('_', ' ')} {self.published}"

    @property
    def kind(self) -> str:
        """direction, amount or output: an amount has a number other than 1, or a tolerance."""
        if self.quantity == OUTPUT:
            return OUTPUT
        return "direction" if self.relation not in (ABOUT, EQUAL) and float(self.value) == 1 else "amount"


def published_claims(path: Path) -> list[Claim]:
    """The claims of a CSV file. Raises UserError, naming the file and the claim, for a mistake in it."""
    claims: dict[str, Claim] = {}
    for row in read_rows(path, ["id", "quantity", "at"]):
        where = f"{path}: {row['id']}"
        if row["id"] in claims:
            raise UserError(f"{where} occurs twice; give each claim its own id")
        numbers = ("tolerance",) if row["quantity"] == OUTPUT else ("tolerance", "value")
        try:
            entry: dict[str, Any] = {key: finite(row[key]) for key in numbers if row[key]}
            words = (word.split("=", 1) for word in shlex.split(row["at"]))
            entry["at"] = {axis: _number(value) for axis, value in words}
        except ValueError as error:
            raise UserError(f"{where}: {error}; `at` has words such as n=1024, value and tolerance numbers") from error
        for key, text in row.items():
            if text and key not in entry:
                entry[key] = text if key in Claim.model_fields else _number(text)
        claims[row["id"]] = Claim.read(entry, where)
        _check_form(claims[row["id"]], where)
    return list(claims.values())


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def own_claims(study: str, entries: Iterable[ClaimSettings]) -> list[Claim]:
    """The claims in a study's checked settings. The default id is the study's name and the claim's number."""
    named = [(entry, entry.id or f"{study}-{number}") for number, entry in enumerate(entries, start=1)]
    return [Claim(**entry.values() | {"study": study, "id": name}) for entry, name in named]


def check_claims(settings: StudySettings, kernels: Mapping[str, KernelSource], file: YamlFile) -> None:
    """Check the claims in a study's settings beyond the schema: both sides exist, and the claim may compare them.

    Raises UserError with the file (`shown`), the key, its value and the allowed values.
    """
    ids = [claim.id for claim in own_claims(Path(file).stem, settings.claims)]
    others = [*kernels, *settings.rival_names, *(f"{LIMIT_PREFIX}{limit}" for limit in settings.limits)]
    for number, entry in enumerate(settings.claims):
        key = file.at(f"claims.{number}")
        if ids.index(ids[number]) < number:
            raise UserError(f"{key}.id is {ids[number]!r}, which another claim has, too. Give each its own.")
        for side, allowed in (("kernel", [*kernels]), ("reference_kernel", others)):
            if (named := getattr(entry, side)) is not None:
                check_known(named, allowed, f"{key}.{side} is")
        if entry.cause:
            check_known(entry.cause, [*settings.causes], f"{key}.cause is")
        if not settings.steps:
            check_known(entry.quantity, [SPEEDUP, OUTPUT], f"{key}.quantity is")
        _check_form(entry, key)
        if entry.quantity == OUTPUT and settings.compares != "outputs":
            raise UserError(f"{key}.quantity is 'output'. Allowed only if the study compares outputs.")


def _check_form(entry: ClaimSettings, key: str) -> None:
    """Raise UserError for keys of a claim that don't go together."""
    if entry.quantity == SPEEDUP and not entry.reference_kernel:
        raise UserError(f"{key}.reference_kernel is missing: a speedup compares two kernels.")
    if (entry.relation == ABOUT) != (entry.tolerance is not None):
        needed = "needs one" if entry.relation == ABOUT else "has none"
        raise UserError(f"{key}.tolerance is {entry.tolerance}. The relation {entry.relation} {needed}.")
    if isinstance(entry.value, str) != (entry.quantity == OUTPUT):
        raise UserError(f"{key}.value is {entry.value!r}. Allowed: a number, or the elements of an output as a text.")
