"""A claim: one statement about a study's kernels, read from resources/published/claims.csv or a study's YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, check_known
from kernelsweep.results import LIMIT_PREFIX, finite, read_rows
from kernelsweep.statistics import Interval
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.settings import ClaimSettings, StudySettings

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


# Quantities that are not metrics: the reference kernel's time over the kernel's, and a kernel's output.
SPEEDUP = "speedup"
OUTPUT = "output"

# The array size of a claim whose source names none: it is judged at every size of the sweep.
EVERY_SIZE = "every"

# The published claims in the project. Their columns are the keys of a claim in a study's YAML, with `study` and `code`.
CLAIMS_FILE = "resources/published/claims.csv"
# The sources by name: columns source, title, language, hardware.
SOURCES_FILE = "resources/published/sources.csv"
_REFERENCE = "reference_"


class NotMeasured(Exception):
    """A claim's quantity is missing; the text says why."""


@dataclass(frozen=True)
class Claim:
    """One statement.

    id                    its name, unique among all claims
    text                  the statement for readers
    source, device        the source, and the device that it measured
    kernel, values        the kernel that the claim is about, and its values on axes; "" for the fastest of all kernels
    reference_kernel, reference_values
                          the kernel in the denominator: the quantity is then the ratio of both kernels' quantities.
                          "" if the quantity is the kernel's own
    quantity              SPEEDUP, OUTPUT, or a metric's name
    relation              the quantity's relation to the value, one of relations.RELATIONS
    value                 a number, or the elements of an OUTPUT
    tolerance             of the relation ABOUT, in the units of the value
    at                    axis values that replace the values of the study's reference point. grid_size replaces both
                          sides' grids of the steps; the array_size EVERY_SIZE stands for all of the sweep
    code                  "ours" if a side is our synchronised form of published code, else ""
    """

    id: str
    study: str
    text: str
    source: str
    device: str
    kernel: str
    reference_kernel: str
    quantity: str
    relation: str
    value: str
    tolerance: float | None
    values: Mapping[str, Any] = field(default_factory=dict)
    reference_values: Mapping[str, Any] = field(default_factory=dict)
    at: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""

    @property
    def kind(self) -> str:
        """direction, amount or output: an amount has a number other than 1, or a tolerance."""
        if self.quantity == OUTPUT:
            return OUTPUT
        return "direction" if self.relation not in (ABOUT, EQUAL) and float(self.value) == 1 else "amount"


def _claim(entry: ClaimSettings, study: str, id: str, code: str = "") -> Claim:
    """A claim from its keys. Further keys are axes: of the kernel, or with `reference_` in front of the reference."""
    axes = entry.model_extra or {}
    return Claim(
        id=id,
        study=study,
        text=entry.claim,
        source=entry.source,
        device=entry.source_device,
        kernel=entry.kernel or "",
        reference_kernel=entry.reference_kernel or "",
        quantity=entry.quantity,
        relation=entry.relation,
        value=entry.value if isinstance(entry.value, str) else f"{entry.value:g}",
        tolerance=entry.tolerance,
        values={axis: value for axis, value in axes.items() if not axis.startswith(_REFERENCE)},
        reference_values={
            axis.removeprefix(_REFERENCE): value for axis, value in axes.items() if axis.startswith(_REFERENCE)
        },
        at=entry.at,
        code=code,
    )


def published_claims(path: Path) -> list[Claim]:
    """The claims of a CSV file. Raises UserError, naming the file and the claim, for a mistake in it."""
    claims: dict[str, Claim] = {}
    for row in read_rows(path):
        shown, own = f"{path}: {row['id']}", {key: row.pop(key, "") for key in ("id", "study", "code", "at")}
        if own["id"] in claims:
            raise UserError(f"{shown} occurs twice; give each claim its own id")
        numbers = ("tolerance",) if row["quantity"] == OUTPUT else ("tolerance", "value")
        try:
            entry: dict[str, Any] = {key: finite(row[key]) for key in numbers if row[key]}
            entry["at"] = {axis: _number(value) for axis, value in (word.split("=") for word in own["at"].split())}
        except ValueError as error:
            raise UserError(f"{shown}: {error}; `at` has words such as n=1024, value and tolerance numbers") from error
        for key, text in row.items():
            if text and key not in entry:
                entry[key] = text if key in ClaimSettings.model_fields else _number(text)
        checked = ClaimSettings.read(entry, shown)
        _check_form(checked, shown)
        claims[own["id"]] = _claim(checked, own["study"], own["id"], own["code"])
    return list(claims.values())


def _number(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _sides(settings: StudySettings, kernels: Iterable[str]) -> list[str]:
    """What a claim may compare a kernel with."""
    return [*kernels, *settings.rival_names, *(f"{LIMIT_PREFIX}{limit}" for limit in settings.limits)]


def own_claims(study: str, entries: Iterable[ClaimSettings]) -> list[Claim]:
    """The claims in a study's checked settings. The default id is the study's name and the claim's number."""
    return [_claim(entry, study, entry.id or f"{study}-{number}") for number, entry in enumerate(entries, start=1)]


def check_claims(settings: StudySettings, kernels: Mapping[str, KernelSource], shown: str) -> None:
    """Check the claims in a study's settings beyond the schema: both sides exist, and the claim may compare them.

    Raises UserError with the file (`shown`), the key, its value and the allowed values.
    """
    ids = [claim.id for claim in own_claims(Path(shown).stem, settings.claims)]
    for number, entry in enumerate(settings.claims):
        key = f"{shown}: claims.{number}"
        if ids.index(ids[number]) < number:
            raise UserError(f"{key}.id is {ids[number]!r}, which another claim has, too. Give each its own.")
        for side, allowed in (("kernel", [*kernels]), ("reference_kernel", _sides(settings, kernels))):
            if (named := getattr(entry, side)) is not None:
                check_known(named, allowed, f"{key}.{side} is")
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
