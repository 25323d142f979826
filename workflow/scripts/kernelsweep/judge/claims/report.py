"""The judged claims as rows of claims.csv, and as the page claims.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.analysis.words import device_text, markdown_table, point_text
from kernelsweep.judge.claims.claim import (
    CLAIM_VERDICTS,
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    UNMEASURED,
    Claim,
)
from kernelsweep.judge.claims.judge import Judged
from kernelsweep.results import Row

# claims.csv, one row a claim: first the columns that users' scripts read, in their order.
#   published            the source's value: a number, or an output's elements
#   measured, low, high  the measured quantity with its 95% interval; empty if there is none
#   at, reference_at     the kernels' values on axes
#   message              the reason for a missing quantity, or a remark on the quantity
#   kind                 direction, amount or output
#   code                 "ours" if a side is our synchronised form of published code
#   elsewhere            the other sizes and cache states of the sweep with another verdict
CLAIM_COLUMNS = (
    "study",
    "claim",
    "source",
    "source_device",
    "published",
    "measured",
    "low",
    "high",
    "verdict",
    "id",
    "kernel",
    "at",
    "reference_kernel",
    "reference_at",
    "quantity",
    "relation",
    "tolerance",
    "message",
    "kind",
    "code",
    "elsewhere",
)

# Signs make verdicts easy to find in a column.
_SIGNS = {HOLDS: "✓", FAILS: "✗", NOT_DECIDABLE: "?", UNMEASURED: "–"}

_EXPLANATION = (
    "A claim holds where the whole 95% interval of what was measured satisfies it, and does not hold where all of"
    " the interval contradicts it; where the interval straddles, it is not decidable. Both sides are points of one"
    " sweep, at the study's reference point; `elsewhere` names the sizes and cache states with another verdict."
    " A ratio of 1 satisfies no claim of a change. A range under `holds if` accepts the published number with a"
    " width of ours, as no source gives an error. `ours`: judged on our synchronised form of published code."
    " Sources and widths: docs/claims.md of kernelsweep."
)

_DIGITS = 4


def claim_row(judged: Judged) -> Row:
    """A judged claim as a row of claims.csv."""
    claim = judged.claim
    row = claim.values(*CLAIM_COLUMNS) | {
        "published": claim.published,
        "measured": judged.output,
        "verdict": judged.verdict,
        "at": point_text({**claim.axes, **claim.at}),
        "reference_at": point_text({**claim.reference_axes, **claim.at}) if claim.reference_kernel else "",
        "tolerance": "" if claim.tolerance is None else f"{claim.tolerance:g}",
        "message": judged.message,
        "kind": claim.kind,
        "elsewhere": _elsewhere(judged),
    }
    if judged.measured:
        ends = {"measured": judged.measured.value, "low": judged.measured.low, "high": judged.measured.high}
        row |= {name: f"{value:.6g}" for name, value in ends.items()}
    return row


def claims_text(
    judged: Sequence[Judged],
    titles: Mapping[str, str],
    device: Mapping[str, Any],
    sources: Sequence[Mapping[str, str]] = (),
) -> str:
    """The page: the number of claims with each verdict, then a table a study, and one of their sources.

    titles   the titles of all studies by name, in their order, with or without claims
    sources  rows with the columns source, title, language and hardware
    """
    lines = ["# Claims", "", f"What is claimed of these kernels, and whether it holds here. {device_text(device)}.", ""]
    if not judged:
        return "\n".join([*lines, "Nothing is claimed of what was measured.", ""])
    of_studies = {name: of for name in titles if (of := [one for one in judged if one.claim.study == name])}
    heads = {"study": False, **{f"{_SIGNS[verdict]} {verdict}": True for verdict in CLAIM_VERDICTS}}
    counts = {name: Counter(one.verdict for one in of) for name, of in {**of_studies, "all": judged}.items()}
    lines += markdown_table(heads, [[name, *(str(of[one]) for one in CLAIM_VERDICTS)] for name, of in counts.items()])
    lines += ["", _EXPLANATION]
    for name, of_study in of_studies.items():
        lines += ["", f"## {titles[name]}", ""]
        found = {verdict: [one for one in of_study if one.verdict == verdict] for verdict in CLAIM_VERDICTS}
        lines += _table([*found[FAILS], *found[NOT_DECIDABLE]])
        for verdict in (HOLDS, UNMEASURED):
            if claims := found[verdict]:
                summary = f"<summary>{_SIGNS[verdict]} {verdict}: {len(claims)}</summary>"
                lines += ["", f"<details>{summary}", "", *_table(claims), "", "</details>"]
    named = [row for row in sources if row["source"] in {one.claim.source for one in judged}]
    if named:
        columns = ("source", "title", "language", "hardware")
        lines += ["", "## Sources", ""]
        lines += markdown_table(dict.fromkeys(columns, False), [[row[column] for column in columns] for row in named])
    return "\n".join(lines) + "\n"


def _table(judged: Sequence[Judged]) -> list[str]:
    rows = [
        [
            f"{_SIGNS[one.verdict]} {one.verdict}",
            one.claim.claim,
            one.claim.holds_if,
            _measured(one),
            _elsewhere(one),
            _source(one.claim),
        ]
        for one in judged
    ]
    heads = dict.fromkeys(("verdict", "claim", "holds if", "measured", "elsewhere", "source"), False)
    # What is set right is never broken into lines.
    return markdown_table(heads | {"holds if": True}, rows) if rows else []


def _source(claim: Claim) -> str:
    source = f"{claim.source}: {claim.source_device}" if claim.source_device else claim.source
    return f"{source} ({claim.code})" if claim.code else source


def _elsewhere(judged: Judged) -> str:
    """The places with another verdict: `✗ at 2²⁸, 2³⁰; hot: ✗ at 2²⁰`. A claim about every size names all places."""
    groups: dict[tuple[str, str], list[str]] = {}
    for cache, size, verdict in judged.elsewhere:
        if verdict != judged.verdict:
            groups.setdefault((cache, _SIGNS[verdict]), []).append(size)
    return "; ".join(f"{cache}: {sign} at {', '.join(sizes)}" for (cache, sign), sizes in groups.items())


def _measured(judged: Judged) -> str:
    """The measured quantity with any remark, or the reason for its absence."""
    if judged.measured:
        return f"{_interval(judged)}; {judged.message}" if judged.message else _interval(judged)
    return judged.message or ("the same" if judged.verdict == HOLDS else judged.output)


def _interval(judged: Judged) -> str:
    """A quantity with its interval, if that has a width: `1.987 (1.974 to 2.001)`."""
    assert judged.measured is not None
    measured = judged.measured
    if measured.low == measured.high:
        return f"{measured.value:.{_DIGITS}g}"
    decimals = max(_DIGITS - 1 - math.floor(math.log10(abs(measured.value) or 1)), 0)
    return f"{measured.value:.{decimals}f} ({measured.low:.{decimals}f} to {measured.high:.{decimals}f})"
