"""The judged claims as rows of claims.csv, and as the page claims.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from kernelsweep.judge.claims.claim import (
    CLAIM_VERDICTS,
    FAILS,
    HOLDS,
    NOT_DECIDABLE,
    SOME_SIZES,
    UNKNOWN_CAUSE,
    UNMEASURED,
    Claim,
)
from kernelsweep.judge.claims.judge import Judged
from kernelsweep.judge.data.words import device_text, list_texts, point_text
from kernelsweep.results import Row
from kernelsweep.templates import markdown_table

# claims.csv, one row a claim: first the columns that users' scripts read, in their order.
#   published            the source's value: a number, or an output's elements
#   verdict              one of CLAIM_VERDICTS; of SOME_SIZES the sizes: "holds at 2¹⁶ to 2²⁴, not at 2²⁸"
#   measured, low, high  the measured quantity with its 95% interval; empty if there is none
#   at, reference_at     the kernels' values on axes
#   message              the reason for a missing quantity, or a remark on the quantity
#   kind                 direction, amount or output
#   code                 "" if the source prints both sides' code; "ours", a side is a form of our own; "not printed",
#                        the source describes it; "our reading", the source names it
#   elsewhere            the other sizes and cache states of the sweep with another verdict
#   cause                why it does not hold, or not at every size
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
    "cause",
)

# Signs make verdicts easy to find in a column.
_SIGNS = {HOLDS: "✓", FAILS: "✗", SOME_SIZES: "◐", NOT_DECIDABLE: "?", UNMEASURED: "–"}

# What a side of a claim is, by the claim's `code`; other words are a user's.
_CODE = {
    "": "the code that the source prints",
    "not printed": "not printed: the source describes it",
    "our reading": "our reading: the source only names it",
    "ours": "ours: a form of our own, such as `__syncwarp` in place of `volatile`",
}

_EXPLANATION = (
    "A claim holds if the whole 95% interval of what was measured satisfies it. It does not hold if all of the interval"
    " contradicts it; if the interval straddles, it is not decidable. Both sides are points of one sweep, at the"
    " study's reference point, and `elsewhere` names sizes and cache states with another verdict. A claim about every"
    " size is judged at each. A ratio of 1 satisfies no claim of a change. A range under `holds if` accepts the"
    " published number with a width of ours, as no source gives an error. Sources and widths: docs/claims.md of"
    " kernelsweep."
)

_DIGITS = 4


def claim_row(judged: Judged) -> Row:
    """A judged claim as a row of claims.csv."""
    claim = judged.claim
    row = claim.values(*CLAIM_COLUMNS) | {
        "published": claim.published,
        "measured": judged.output,
        "verdict": _verdict(judged),
        "at": point_text({**claim.axes, **claim.at}),
        "reference_at": point_text({**claim.reference_axes, **claim.at}) if claim.reference_kernel else "",
        "tolerance": "" if claim.tolerance is None else f"{claim.tolerance:g}",
        "message": judged.message,
        "kind": claim.kind,
        "elsewhere": _elsewhere(judged),
        "cause": judged.cause,
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
    causes: Mapping[str, Mapping[str, str]] | None = None,
) -> str:
    """The page: the number of claims with each verdict, then a table per study, and one of their sources.

    titles   the titles of all studies by name, in their order, with or without claims
    sources  rows with the columns source, title, language and hardware
    causes   by study, the sentence that explains each cause
    """
    lines = ["# Claims", "", f"What is claimed of these kernels, and whether it holds here. {device_text(device)}.", ""]
    if not judged:
        return "\n".join([*lines, "Nothing is claimed of what was measured.", ""])
    of_studies = {name: of for name in titles if (of := [one for one in judged if one.claim.study == name])}
    lines += _counts("study", {**of_studies, "all": judged})
    if any(one.claim.code for one in judged):
        codes = sorted({one.claim.code for one in judged}, key=[*_CODE, *(one.claim.code for one in judged)].index)
        of_codes = {_CODE.get(code, code): [one for one in judged if one.claim.code == code] for code in codes}
        lines += ["", *_counts("the claim is judged on", of_codes)]
    lines += ["", _EXPLANATION]
    for name, of_study in of_studies.items():
        lines += ["", f"## {titles[name]}", ""]
        found = {verdict: [one for one in of_study if one.verdict == verdict] for verdict in CLAIM_VERDICTS}
        lines += _table([*found[FAILS], *found[SOME_SIZES], *found[NOT_DECIDABLE]])
        lines += _causes(of_study, (causes or {}).get(name, {}))
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


def _counts(head: str, groups: Mapping[str, Sequence[Judged]]) -> list[str]:
    """A table with the number of claims with each verdict in each group."""
    heads = {head: False, **{f"{_SIGNS[verdict]} {verdict}": True for verdict in CLAIM_VERDICTS}}
    counts = {name: Counter(one.verdict for one in of) for name, of in groups.items()}
    return markdown_table(heads, [[name, *(str(of[one]) for one in CLAIM_VERDICTS)] for name, of in counts.items()])


def _table(judged: Sequence[Judged]) -> list[str]:
    """A row per claim; with a column of causes if there is any."""
    cells = [
        {
            "verdict": f"{_SIGNS[one.verdict]} {_verdict(one)}",
            "cause": one.cause,
            "claim": one.claim.claim,
            "holds if": one.claim.holds_if,
            "measured": _measured(one),
            "elsewhere": _elsewhere(one),
            "source": _source(one.claim),
        }
        for one in judged
    ]
    # What is set right is never broken into lines.
    heads = {head: head == "holds if" for head in (cells[0] if cells else ())}
    if not any(one.cause for one in judged):
        heads.pop("cause", None)
    return markdown_table(heads, [[row[head] for head in heads] for row in cells]) if cells else []


def _causes(judged: Sequence[Judged], sentences: Mapping[str, str]) -> list[str]:
    """A sentence for each cause of claims that do not hold, with their number."""
    known = {**sentences, UNKNOWN_CAUSE: "Nobody has written one beside the claim."}
    found = Counter(one.cause for one in judged if one.cause)
    lines = [f"- **{cause}** ({found[cause]}): {text}" for cause, text in known.items() if cause in found]
    return ["", *lines] if lines else []


def _verdict(judged: Judged) -> str:
    """The verdict in words; of a claim that holds at some sizes, these."""
    if judged.verdict != SOME_SIZES:
        return judged.verdict
    somewhere = {verdict for _, verdict in judged.sizes}
    words = {HOLDS: HOLDS, FAILS: "not" if HOLDS in somewhere else FAILS, NOT_DECIDABLE: NOT_DECIDABLE}
    return ", ".join(f"{words[verdict]} at {_runs(judged.sizes, verdict)}" for verdict in words if verdict in somewhere)


def _runs(sizes: Sequence[tuple[str, str]], verdict: str) -> str:
    """The sizes with a verdict; of three or more neighbours, the ends: `2¹⁶ to 2²⁴ and 2³⁰`."""
    runs = [[size for size, _ in of] for found, of in groupby(sizes, key=itemgetter(1)) if found == verdict]
    texts = [text for run in runs for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else run)]
    return list_texts(texts, most=len(texts))


def _source(claim: Claim) -> str:
    source = f"{claim.source}: {claim.source_device}" if claim.source_device else claim.source
    return f"{source} ({claim.code})" if claim.code else source


def _elsewhere(judged: Judged) -> str:
    """The places with another verdict: `cold: ✗ at 2²⁸, 2³⁰; hot: ✗ at 2²⁰`."""
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
