"""A claim: one statement about a study's kernels, read from resources/published/claims.csv or a study's YAML."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.judge.claims.relations import ABOUT, EQUAL, RELATIONS
from kernelsweep.results import BASELINE_PREFIX, LIMIT_PREFIX, finite, read_rows
from kernelsweep.sweep.axes import is_size, parse_size
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.study_quantities import quantities_of

# Quantities that are not metrics: the reference kernel's time over the kernel's, and a kernel's output.
SPEEDUP = "speedup"
OUTPUT = "output"

# The kinds of claims, which are counted apart.
DIRECTION = "direction"
AMOUNT = "amount"
CLAIM_KINDS = (DIRECTION, AMOUNT, OUTPUT)

# The array size of a claim whose source names none: it is judged at every size of the sweep.
EVERY_SIZE = "every"

# The published claims in the project, and their columns. All but `study`, `code` and `at` are keys of a claim in a
# study's YAML, too.
CLAIMS_FILE = "resources/published/claims.csv"
# The sources by name: columns source, title, language, hardware.
SOURCES_FILE = "resources/published/sources.csv"
PUBLISHED_CLAIM_COLUMNS = (
    "id",
    "study",
    "claim",
    "source",
    "source_device",
    "kernel",
    "unroll",
    "reference_kernel",
    "reference_unroll",
    "arguments",
    "quantity",
    "relation",
    "value",
    "tolerance",
    "code",
    "at",
)


class NotMeasured(Exception):
    """A claim's quantity is missing; the text says why."""


@dataclass(frozen=True)
class Claim:
    """One statement.

    id                    its name, unique among all claims
    text                  the statement for readers
    source, device        the source, and the device that it measured
    kernel, unroll        the kernel that the claim is about, and its unroll factor; in a study without steps the
                          kernel at its fastest configuration, or if empty, the fastest of all kernels
    reference_kernel, reference_unroll
                          the kernel in the denominator: the quantity is then the ratio of both kernels' quantities.
                          Empty if the quantity is the kernel's own
    arguments             an exchange's
    quantity              SPEEDUP, OUTPUT, or a metric's name; in a study without steps a quantity's name
    relation              the quantity's relation to the value, one of relations.RELATIONS
    value                 a number, or the elements of an OUTPUT
    tolerance             of the relation ABOUT, in the units of the value
    at                    axis values that replace the values of the study's reference point. grid_size replaces both
                          sides' grids of the ladder; the array_size EVERY_SIZE stands for all of the sweep
    code                  "ours" if a side is our synchronised form of published code, else ""
    """

    id: str
    study: str
    text: str
    source: str
    device: str
    kernel: str
    unroll: int
    reference_kernel: str
    reference_unroll: int
    arguments: str
    quantity: str
    relation: str
    value: str
    tolerance: float | None
    at: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""

    @property
    def kind(self) -> str:
        """One of CLAIM_KINDS: an amount has a number other than 1, or a tolerance."""
        if self.quantity == OUTPUT:
            return OUTPUT
        return DIRECTION if self.relation not in (ABOUT, EQUAL) and float(self.value) == 1 else AMOUNT


def published_claims(path: Path) -> list[Claim]:
    """The claims of a CSV file with PUBLISHED_CLAIM_COLUMNS.

    Raises UserError, naming the file and the claim, for a missing column, a number that can't be read, an unknown
    relation, and a repeated id.
    """
    rows = read_rows(path)
    missing = [column for column in PUBLISHED_CLAIM_COLUMNS if rows and column not in rows[0]]
    if missing:
        raise UserError(f"{path}: no column {', '.join(missing)}; expected {', '.join(PUBLISHED_CLAIM_COLUMNS)}")
    claims: dict[str, Claim] = {}
    for row in rows:
        shown = f"{path}: {row['id']}"
        if row["id"] in claims:
            raise UserError(f"{shown} occurs twice; give each claim its own id")
        if row["relation"] not in RELATIONS:
            guess = nearest(row["relation"], RELATIONS) or ";"
            raise UserError(f"{shown}: relation is {row['relation']!r}{guess} Allowed: {', '.join(RELATIONS)}.")
        try:
            claims[row["id"]] = Claim(
                id=row["id"],
                study=row["study"],
                text=row["claim"],
                source=row["source"],
                device=row["source_device"],
                kernel=row["kernel"],
                unroll=int(row["unroll"]),
                reference_kernel=row["reference_kernel"],
                reference_unroll=int(row["reference_unroll"] or 1),
                arguments=row["arguments"],
                quantity=row["quantity"],
                relation=row["relation"],
                value=row["value"] if row["quantity"] == OUTPUT else f"{finite(row['value']):g}",
                tolerance=finite(row["tolerance"]) if row["tolerance"] else None,
                at=_place(row["at"]),
                code=row["code"],
            )
        except ValueError as error:
            raise UserError(f"{shown}: {error}; unroll factors, value, tolerance and sizes are numbers") from error
        if (row["relation"] == ABOUT) != bool(row["tolerance"]):
            raise UserError(f"{shown}: {_wrong_tolerance(row['relation'], row['tolerance'] or None)}")
    return list(claims.values())


def _place(text: str) -> dict[str, Any]:
    """The values in a text such as `array_size=2^28 grid_size=256`; a size may be EVERY_SIZE. Raises ValueError."""
    place: dict[str, Any] = dict(word.split("=") for word in text.split())
    for axis, value in place.items():
        if value != EVERY_SIZE and (value[:1].isdecimal() or is_size(value)):
            place[axis] = int(value) if value.isdecimal() else parse_size(value)
    return place


def check_published_claims(path: Path, studies: Collection[str], shown: str) -> None:
    """Raise UserError for a mistake in the file, and for a claim about a study whose name is misspelt.

    A claim about a study that isn't near any of `studies` is no mistake: the project may have dropped that study.
    """
    for claim in published_claims(path):
        if claim.study not in studies and (guess := nearest(claim.study, studies)):
            raise UserError(f"{shown}: {claim.id}: study is {claim.study!r}{guess}")


def own_claims(study: str, entries: Iterable[Mapping[str, Any]]) -> list[Claim]:
    """The claims in a study's checked settings. The default id is the study's name and the claim's number."""
    return [
        Claim(
            id=entry["id"] or f"{study}-{number}",
            study=study,
            text=entry["claim"],
            source=entry["source"],
            device=entry["source_device"],
            kernel=entry["kernel"] or "",
            unroll=entry["unroll"],
            reference_kernel=entry["reference_kernel"] or "",
            reference_unroll=entry["reference_unroll"],
            arguments=entry["arguments"],
            quantity=entry["quantity"],
            relation=entry["relation"],
            value=str(entry["value"]),
            tolerance=entry["tolerance"],
            at={key: value for key, value in entry["at"].items() if value is not None},
        )
        for number, entry in enumerate(entries, start=1)
    ]


def check_claims(settings: Mapping[str, Any], kernels: Mapping[str, KernelSource], shown: str) -> None:
    """Check the claims in a study's settings beyond the schema: both sides exist, and the claim may compare them.

    Raises UserError with the file (`shown`), the key, its value and the allowed values.
    """
    baselines = [f"{BASELINE_PREFIX}{name}" for name in settings["baselines"]]
    for number, entry in enumerate(settings["claims"]):
        key = f"{shown}: claims.{number}"
        if compares_fastest(settings):
            _check_best(entry, settings, kernels, key)
            continue
        _check_side(entry, "kernel", "unroll", kernels, [], settings["steps"], key)
        if entry["reference_kernel"] is not None:
            allowed = baselines if entry["quantity"] == SPEEDUP else []
            _check_side(entry, "reference_kernel", "reference_unroll", kernels, allowed, settings["steps"], key)
        elif entry["quantity"] == SPEEDUP:
            raise UserError(f"{key} lacks the key 'reference_kernel': a speedup compares two kernels.")
        if (entry["relation"] == ABOUT) != (entry["tolerance"] is not None):
            raise UserError(f"{key}.{_wrong_tolerance(entry['relation'], entry['tolerance'])}")
        if entry["quantity"] == OUTPUT:
            if settings["compares"] != "outputs" or entry["relation"] != EQUAL:
                raise UserError(
                    f"{key}.quantity is 'output'. Allowed only if the study compares outputs, with the relation equal."
                )
        elif isinstance(entry["value"], str):
            raise UserError(f"{key}.value is {entry['value']!r}. Allowed: a number, unless quantity is output.")


def compares_fastest(settings: Mapping[str, Any]) -> bool:
    """Whether a study's claims compare the fastest configurations: where neither steps nor outputs are compared."""
    return not settings["steps"] and settings["compares"] == "times"


def _check_best(
    entry: Mapping[str, Any], settings: Mapping[str, Any], kernels: Mapping[str, KernelSource], key: str
) -> None:
    """Raise UserError for a claim about best configurations whose quantity, sides, axes or tolerance are wrong."""
    known = [SPEEDUP, *quantities_of(settings)]
    if entry["quantity"] not in known:
        guess = nearest(entry["quantity"], known) or ";"
        raise UserError(f"{key}.quantity is {entry['quantity']!r}{guess} Allowed: {', '.join(known)}.")
    if entry["quantity"] == SPEEDUP and entry["reference_kernel"] is None:
        raise UserError(f"{key} lacks the key 'reference_kernel': a speedup compares two kernels.")
    limits = [f"{LIMIT_PREFIX}{limit}" for limit in settings["limits"]]
    beside = [*settings["rivals"], *limits]
    for side, allowed in (("kernel", [*kernels]), ("reference_kernel", [*kernels, *beside])):
        if entry[side] is not None and entry[side] not in allowed:
            guess = nearest(entry[side], allowed) or ";"
            raise UserError(f"{key}.{side} is {entry[side]!r}{guess} Allowed: {', '.join(allowed)}.")
    for axis in entry["at"]:
        if axis not in settings["reference"]:
            guess = nearest(axis, settings["reference"]) or ";"
            raise UserError(f"{key}.at has {axis!r}{guess} Axes: {', '.join(settings['reference'])}.")
    if (entry["relation"] == ABOUT) != (entry["tolerance"] is not None):
        raise UserError(f"{key}.{_wrong_tolerance(entry['relation'], entry['tolerance'])}")


def check_claimed_metrics(entries: Sequence[Mapping[str, Any]], metrics: Iterable[str], shown: str) -> None:
    """Raise UserError if a claim in a study's settings is about a metric that the configuration doesn't define."""
    known = [SPEEDUP, OUTPUT, *metrics]
    for number, entry in enumerate(entries):
        if entry["quantity"] not in known:
            guess = nearest(entry["quantity"], known) or ";"
            raise UserError(
                f"{shown}: claims.{number}.quantity is {entry['quantity']!r}{guess} Allowed: {SPEEDUP}, {OUTPUT}, or a "
                "name in config/metrics.yaml."
            )


def _wrong_tolerance(relation: str, tolerance: Any) -> str:
    """The error of a tolerance with a relation other than ABOUT, or of ABOUT without a tolerance."""
    needed = "needs one, a number above 0" if relation == ABOUT else "has none"
    return f"tolerance is {tolerance}. The relation {relation} {needed}."


def _check_side(
    entry: Mapping[str, Any],
    kernel_key: str,
    unroll_key: str,
    kernels: Mapping[str, KernelSource],
    baselines: Sequence[str],
    steps: Sequence[Mapping[str, Any]],
    key: str,
) -> None:
    name, unroll = entry[kernel_key], entry[unroll_key]
    if name in baselines:
        return
    if name not in kernels:
        known = [*kernels, *baselines]
        raise UserError(f"{key}.{kernel_key} is {name!r}{nearest(name, known) or ';'} Allowed: {', '.join(known)}.")
    kernel = kernels[name]
    if kernel.chooses_grid and (name, unroll) not in [(step["kernel"], step["unroll"]) for step in steps]:
        raise UserError(f"{key}.{kernel_key} is {name!r}, but no step gives its grid_size. Add such a step.")
