"""A claim: one statement about a study's kernels, read from resources/published/claims.csv or a study's YAML."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, check_known, nearest
from kernelsweep.judge.claims.relations import ABOUT, EQUAL, RELATIONS
from kernelsweep.results import LIMIT_PREFIX, finite, read_rows
from kernelsweep.sweep.axes import CACHE_STATES, is_size, parse_size
from kernelsweep.sweep.kernels.source import GRID_SIZE, KernelSource
from kernelsweep.sweep.settings import ClaimSettings, StudySettings
from kernelsweep.sweep.study import Study

# Quantities that are not metrics: the reference kernel's time over the kernel's, and a kernel's output.
SPEEDUP = "speedup"
OUTPUT = "output"

# The kinds of claims, which are counted apart.
DIRECTION = "direction"
AMOUNT = "amount"
CLAIM_KINDS = (DIRECTION, AMOUNT, OUTPUT)

# The array size of a claim whose source names none: it is judged at every size of the sweep.
EVERY_SIZE = "every"

# The published claims in the project. Their columns are the keys of a claim in a study's YAML, with `study` and `code`.
CLAIMS_FILE = "resources/published/claims.csv"
# The sources by name: columns source, title, language, hardware.
SOURCES_FILE = "resources/published/sources.csv"
_COLUMNS = (
    "id",
    "study",
    "claim",
    "source",
    "source_device",
    "kernel",
    "reference_kernel",
    "quantity",
    "relation",
    "value",
    "tolerance",
    "code",
    "at",
)
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
        """One of CLAIM_KINDS: an amount has a number other than 1, or a tolerance."""
        if self.quantity == OUTPUT:
            return OUTPUT
        return DIRECTION if self.relation not in (ABOUT, EQUAL) and float(self.value) == 1 else AMOUNT


def _claim(entry: Mapping[str, Any], at: Mapping[str, Any], tolerance: float | None) -> Claim:
    """A claim from its keys. Further keys are axes: of the kernel, or with `reference_` in front of the reference."""
    axes = {key: _axis_value(value) for key, value in entry.items() if key not in _COLUMNS and value not in ("", None)}
    return Claim(
        id=entry["id"],
        study=entry["study"],
        text=entry["claim"],
        source=entry["source"],
        device=entry["source_device"],
        kernel=entry["kernel"] or "",
        reference_kernel=entry["reference_kernel"] or "",
        quantity=entry["quantity"],
        relation=entry["relation"],
        value=str(entry["value"]) if entry["quantity"] == OUTPUT else f"{finite(str(entry['value'])):g}",
        tolerance=tolerance,
        values={axis: value for axis, value in axes.items() if not axis.startswith(_REFERENCE)},
        reference_values={
            axis.removeprefix(_REFERENCE): value for axis, value in axes.items() if axis.startswith(_REFERENCE)
        },
        at=at,
        code=entry.get("code", ""),
    )


def _axis_value(value: Any) -> Any:
    """A value of an axis; a size such as 2^28 as a number. Raises ValueError for a size that can't be read."""
    if not isinstance(value, str) or value == EVERY_SIZE or not (value[:1].isdecimal() or is_size(value)):
        return value
    return int(value) if value.isdecimal() else parse_size(value)


def published_claims(path: Path) -> list[Claim]:
    """The claims of a CSV file. Raises UserError, naming the file and the claim, for a mistake in it."""
    rows = read_rows(path)
    missing = [column for column in _COLUMNS if rows and column not in rows[0]]
    if missing:
        raise UserError(f"{path}: no column {', '.join(missing)}; expected {', '.join(_COLUMNS)}")
    claims: dict[str, Claim] = {}
    for row in rows:
        shown = f"{path}: {row['id']}"
        if row["id"] in claims:
            raise UserError(f"{shown} occurs twice; give each claim its own id")
        check_known(row["relation"], RELATIONS, f"{shown}: relation is")
        try:
            at = {axis: _axis_value(value) for axis, value in (word.split("=") for word in row["at"].split())}
            claims[row["id"]] = _claim(row, at, finite(row["tolerance"]) if row["tolerance"] else None)
        except ValueError as error:
            raise UserError(
                f"{shown}: {error}; `at` has words such as n=1024, and value and tolerance numbers"
            ) from error
        tolerance = claims[row["id"]].tolerance
        _check_form(row["quantity"], row["reference_kernel"], row["relation"], tolerance, f"{shown}: ")
    return list(claims.values())


def check_published_claims(path: Path, studies: Mapping[str, Study], metrics: Iterable[str], shown: str) -> None:
    """Raise UserError for a mistake in the file, for a misspelt study, kernel or axis, and for an id of a study's own.

    A claim about a study or a kernel of another name is no mistake: the project may have dropped it.
    """
    claims = published_claims(path)
    for claim in claims:
        where = f"{shown}: {claim.id}"
        _check_spelling(claim.study, studies, f"{where}: study")
        if study := studies.get(claim.study):
            for side in ("kernel", "reference_kernel"):
                _check_spelling(getattr(claim, side), _sides(study.settings, study.kernels), f"{where}: {side}")
            check_known(claim.quantity, [SPEEDUP, OUTPUT, *metrics], f"{where}: quantity is")
            for axis, value in claim.at.items():
                check_known(axis, [*study.problem.axes, GRID_SIZE], f"{where}: an axis of `at` is")
                is_word = isinstance(value, str) and value != EVERY_SIZE
                if axis not in (GRID_SIZE, "cache") and is_word != study.problem.axes[axis].has_texts:
                    raise UserError(f"{where}: {axis} is {value!r}. Allowed: {'numbers' if is_word else 'words'}.")
                if axis == "cache":
                    check_known(value, CACHE_STATES, f"{where}: cache is")
    for study in studies.values():
        for claim in own_claims(study.name, study.settings.claims):
            if claim.id in {other.id for other in claims}:
                raise UserError(
                    f"{study.file}: a claim has the id {claim.id!r}, which one in {shown} has. Give another."
                )


def _sides(settings: StudySettings, kernels: Iterable[str]) -> list[str]:
    """What a claim may compare a kernel with."""
    return [*kernels, *settings.rival_names, *(f"{LIMIT_PREFIX}{limit}" for limit in settings.limits)]


def _check_spelling(name: str, known: Collection[str], key: str) -> None:
    if name and name not in known and (guess := nearest(name, known, 0.8)):
        raise UserError(f"{key} is {name!r}{guess}")


def own_claims(study: str, entries: Iterable[ClaimSettings]) -> list[Claim]:
    """The claims in a study's checked settings. The default id is the study's name and the claim's number."""
    return [
        _claim(
            {**entry.values(), "id": entry.id or f"{study}-{number}", "study": study},
            {key: value for key, value in entry.at.items() if value is not None},
            entry.tolerance,
        )
        for number, entry in enumerate(entries, start=1)
    ]


def check_claims(settings: StudySettings, kernels: Mapping[str, KernelSource], shown: str) -> None:
    """Check the claims in a study's settings beyond the schema: both sides exist, and the claim may compare them.

    Raises UserError with the file (`shown`), the key, its value and the allowed values.
    """
    ids = [entry.id or f"{Path(shown).stem}-{number}" for number, entry in enumerate(settings.claims, start=1)]
    for number, entry in enumerate(settings.claims):
        key = f"{shown}: claims.{number}"
        if ids.index(ids[number]) < number:
            raise UserError(f"{key}.id is {ids[number]!r}, which another claim has, too. Give each its own.")
        for side, allowed in (("kernel", [*kernels]), ("reference_kernel", _sides(settings, kernels))):
            if (named := getattr(entry, side)) is not None:
                check_known(named, allowed, f"{key}.{side} is")
        for axis in entry.model_extra or ():
            axes = next(iter(kernels.values())).problem.axes
            check_known(axis.removeprefix(_REFERENCE), [*ClaimSettings.model_fields, *axes], f"{key}: a key is")
        for axis in entry.at:
            check_known(axis, [*settings.reference, "grid_size"], f"{key}.at is")
        if not settings.steps:
            check_known(entry.quantity, [SPEEDUP, OUTPUT], f"{key}.quantity is")
        _check_form(entry.quantity, entry.reference_kernel, entry.relation, entry.tolerance, f"{key}.")
        is_output = entry.quantity == OUTPUT
        if is_output and (settings.compares != "outputs" or entry.relation != EQUAL):
            raise UserError(
                f"{key}.quantity is 'output'. Allowed only if the study compares outputs, with the relation equal."
            )
        if not is_output and isinstance(entry.value, str):
            raise UserError(f"{key}.value is {entry.value!r}. Allowed: a number, unless quantity is output.")


def check_claimed_metrics(entries: Sequence[ClaimSettings], metrics: Iterable[str], shown: str) -> None:
    """Raise UserError if a claim in a study's settings is about a metric that the configuration doesn't define."""
    for number, entry in enumerate(entries):
        check_known(entry.quantity, [SPEEDUP, OUTPUT, *metrics], f"{shown}: claims.{number}.quantity is")


def _check_form(quantity: str, reference: str | None, relation: str, tolerance: float | None, key: str) -> None:
    """Raise UserError for a speedup of one kernel, for a tolerance with another relation than ABOUT, and for ABOUT
    without one above 0.
    """
    if quantity == SPEEDUP and not reference:
        raise UserError(f"{key}reference_kernel is missing: a speedup compares two kernels.")
    if (relation == ABOUT) != (tolerance is not None) or (tolerance is not None and tolerance <= 0):
        needed = "needs one, a number above 0" if relation == ABOUT else "has none"
        raise UserError(f"{key}tolerance is {tolerance}. The relation {relation} {needed}.")
