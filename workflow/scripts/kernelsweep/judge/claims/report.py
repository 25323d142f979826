"""The judged claims as rows of claims.csv, and as the page claims.md."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from kernelsweep.base.templates import markdown, markdown_table
from kernelsweep.judge.claims.claim import (
    ABOUT,
    CLAIM_VERDICTS,
    EVERY_SIZE,
    FAILS,
    GOAL,
    HOLDS,
    NOT_DECIDABLE,
    SOME_SIZES,
    UNKNOWN_CAUSE,
    UNMEASURED,
    Claim,
    anchor,
)
from kernelsweep.judge.claims.judge import Judged
from kernelsweep.judge.data.words import device_text, list_texts, point_text
from kernelsweep.results import CLAIM_COLUMNS, Row
from kernelsweep.statistics import Interval

# Signs make verdicts easy to find in a column. _TURNED: of the claims that hold, those that fail at another size.
_TURNED = "at another size"
_SIGNS = {HOLDS: "✓", _TURNED: "of these ✗", FAILS: "✗", SOME_SIZES: "◐", NOT_DECIDABLE: "?", UNMEASURED: "–"}

# What a side of a claim is, by the claim's `code`; other words are a user's.
_CODE = {
    "": "the code that the source prints",
    "not printed": "not printed: the source describes it",
    "our reading": "our reading: the source only names it",
    "ours": "ours: a form of our own, such as `__syncwarp` in place of `volatile`",
}

_DIGITS = 4


def claim_row(judged: Judged) -> Row:
    """A judged claim as a row of claims.csv."""
    claim, verdicts = judged.claim, [verdict for _, verdict in judged.sizes]
    row = claim.values(*CLAIM_COLUMNS) | {
        "published": claim.published,
        "measured": judged.output,
        "verdict": _at_sizes(judged.sizes) if judged.verdict == SOME_SIZES else judged.verdict,
        "at": point_text({**claim.axes, **claim.at}),
        "reference_at": point_text({**claim.reference_axes, **claim.at}) if claim.reference_kernel else "",
        "tolerance": "" if claim.tolerance is None else f"{claim.tolerance:g}",
        "message": judged.message,
        "kind": claim.kind,
        "elsewhere": "; ".join(filter(None, [_other_sizes(judged), _elsewhere(judged)])),
        "cause": judged.cause,
        "sizes_held": f"{verdicts.count(HOLDS)} of {len(verdicts)}" if verdicts else "",
        "size": judged.size,
        "fails_at": _runs(judged.sizes, FAILS),
    }
    if judged.measured:
        ends = {"measured": judged.measured.value, "low": judged.measured.low, "high": judged.measured.high}
        row |= {name: f"{value:.6g}" for name, value in ends.items()}
    return row


def claims_title(sources: Iterable[str]) -> str:
    """What statements of these sources are: claims, our goals, or both."""
    are_goals = {source == GOAL for source in sources}
    return "Our goals" if are_goals == {True} else "Claims" + " and our goals" * any(are_goals)


def held_text(rows: Sequence[Mapping[str, Any]], count: str = "") -> str:
    """How many claims hold, and where: `2 of 3 claims hold at 2²⁸ (1 of these fails at another size)`; "" of none.

    Then of our goals: `our goals: 2 of 2 met at their sizes (1 of these missed at another size)`.

    rows   of claims.csv
    count  what to say of claims in place of the first five words
    """
    texts = []
    for words, is_goal in ((count or "{} of {} claims hold", False), ("our goals: {} of {} met", True)):
        judged = [row for row in rows if is_goal is (row["source"] == GOAL)]
        held, sizes = [row for row in judged if row["verdict"] == HOLDS], {row["size"] for row in judged} - {""}
        where = "their sizes" if len(sizes) > 1 else "".join(sizes).replace(EVERY_SIZE, "every size")
        turned = sum(bool(row["fails_at"]) for row in held)
        text = words.format(len(held), len(judged)) + f" at {where}" * bool(where)
        missed = "missed" if is_goal else "fail" if turned > 1 else "fails"
        texts += [text + f" ({turned} of these {missed} at another size)" * bool(turned)] * bool(judged)
    text = "; ".join(texts)
    return text[:1].upper() + text[1:]


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
    of_studies = {name: of for name in titles if (of := [entry for entry in judged if entry.claim.study == name])}
    codes = [entry.claim.code for entry in judged]
    by_code = {code: [entry for entry in judged if entry.claim.code == code] for code in [*_CODE, *codes]}
    of_codes = {_CODE.get(code, code): claims for code, claims in by_code.items() if claims}
    used_sources = {entry.claim.source for entry in judged}
    columns = ("source", "title", "language", "hardware")
    return markdown(
        __file__,
        title=claims_title(entry.claim.source for entry in judged),
        device=device_text(device),
        by_study=_counts("study", of_studies | ({"all": judged} if len(of_studies) > 1 else {})) if judged else "",
        by_code=_counts("the claim is judged on", of_codes) if any(codes) else "",
        chapters=[_chapter(titles[name], claims, (causes or {}).get(name, {})) for name, claims in of_studies.items()],
        source_heads=dict.fromkeys(columns, False),
        sources=[[row[column] for column in columns] for row in sources if row["source"] in used_sources],
    )


def _chapter(title: str, judged: Sequence[Judged], sentences: Mapping[str, str]) -> dict[str, Any]:
    """What the page has of a study: the claims to look at, why others don't hold, and those, which unfold."""
    by_verdict = {verdict: [entry for entry in judged if entry.verdict == verdict] for verdict in CLAIM_VERDICTS}
    counts = Counter(entry.cause for entry in judged if entry.cause)
    explained = {**sentences, UNKNOWN_CAUSE: "Nobody has written one beside the claim."}
    fails = {cause: [entry for entry in by_verdict[FAILS] if entry.cause == cause] for cause in sentences}
    folded = {f"{_SIGNS[FAILS]} {FAILS}, {cause}": claims for cause, claims in fails.items()}
    folded |= {f"{_SIGNS[verdict]} {verdict}": by_verdict[verdict] for verdict in (HOLDS, UNMEASURED)}
    unexplained = [entry for entry in by_verdict[FAILS] if entry.cause not in sentences]
    return {
        "title": title,
        "table": _table([*unexplained, *by_verdict[SOME_SIZES], *by_verdict[NOT_DECIDABLE]]),
        "causes": [(cause, counts[cause], text) for cause, text in explained.items() if cause in counts],
        "folded": [(f"{what}: {len(of)}", _table(of, has_causes=False)) for what, of in folded.items() if of],
    }


def _counts(head: str, groups: Mapping[str, Sequence[Judged]]) -> str:
    """A table with the number of claims with each verdict in each group."""
    counts = {name: Counter(entry.verdict for entry in claims) for name, claims in groups.items()}
    for name, claims in groups.items():
        counts[name][_TURNED] = sum(entry.verdict == HOLDS and FAILS in dict(entry.sizes).values() for entry in claims)
    found = [kind for kind in _SIGNS if any(of_group[kind] for of_group in counts.values())]
    heads = {head: False, **{f"{_SIGNS[kind]} {kind}": True for kind in found}}
    rows = [[name, *(str(of_group[kind] or "") for kind in found)] for name, of_group in counts.items()]
    return markdown_table(heads, rows)


def _table(judged: Sequence[Judged], has_causes: bool = True) -> str:
    """A row per claim, without columns that have nothing; has_causes: whether no heading says the cause of all."""
    rows = [
        {
            "verdict": f"{_SIGNS[entry.verdict]} {_verdict(entry)}",
            "cause": entry.cause if has_causes else "",
            "claim": f'<a id="{anchor(entry.claim.id)}"></a>' * (entry.claim.relation == ABOUT) + entry.claim.claim,
            "holds if": entry.claim.holds_if,
            "measured": _measured(entry),
            "at another cache state": _elsewhere(entry),
            "source": _source(entry.claim),
        }
        for entry in judged
    ]
    if not rows:
        return ""
    # What is set right is never broken into lines.
    heads = {head: head == "holds if" for head in rows[0] if any(row[head] for row in rows)}
    return markdown_table(heads, [[row[head] for head in heads] for row in rows])


def _verdict(judged: Judged) -> str:
    """The verdict in words, at which size, and at which others it is another: `holds at 2²⁸; not at 2¹⁶ to 2²⁰`."""
    if judged.verdict == SOME_SIZES:
        return _at_sizes(judged.sizes)
    size = f"each of {len(judged.sizes)} sizes" if judged.size == EVERY_SIZE else judged.size
    return "; ".join(filter(None, [judged.verdict + f" at {size}" * bool(size), _other_sizes(judged)]))


def _other_sizes(judged: Judged) -> str:
    """The verdicts at the sizes with another one: `not at 2¹⁶ to 2²⁰`; "" of a claim that is about these, too."""
    return "" if judged.verdict == SOME_SIZES else _at_sizes(judged.sizes, judged.verdict)


def _at_sizes(sizes: Sequence[tuple[str, str]], verdict: str = "") -> str:
    """The verdict at each size in words: `holds at 2¹⁶ to 2²⁴, not at 2²⁸`; without a verdict that is said already."""
    somewhere = {verdict for _, verdict in sizes}
    words = {HOLDS: HOLDS, FAILS: "not" if HOLDS in somewhere else FAILS, NOT_DECIDABLE: NOT_DECIDABLE}
    return ", ".join(f"{words[one]} at {_runs(sizes, one)}" for one in words if one in somewhere - {verdict})


def _runs(sizes: Sequence[tuple[str, str]], verdict: str) -> str:
    """The sizes with a verdict; of three or more neighbours, the ends: `2¹⁶ to 2²⁴ and 2³⁰`."""
    runs = [[size for size, _ in group] for of, group in groupby(sizes, key=itemgetter(1)) if of == verdict]
    texts = [text for run in runs for text in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else run)]
    return list_texts(texts, most=len(texts))


def _source(claim: Claim) -> str:
    source = f"{claim.source}: {claim.source_device}" if claim.source_device else claim.source
    return f"{source} ({claim.code})" if claim.code else source


def _elsewhere(judged: Judged) -> str:
    """The verdicts at other cache states that are others: `hot: not at 2²⁸ and 2³⁰, not decidable at 2²⁶`."""
    texts = {cache: _at_sizes(sizes, judged.verdict) for cache, sizes in judged.elsewhere.items()}
    return "; ".join(f"{cache}: {text}" for cache, text in texts.items() if text)


def _measured(judged: Judged) -> str:
    """The measured quantity with any remark, or the reason for its absence."""
    if judged.measured:
        return "; ".join(filter(None, [_interval(judged.measured), judged.message]))
    return judged.message or ("the same" if judged.verdict == HOLDS else judged.output)


def _interval(measured: Interval) -> str:
    """A quantity with its interval, if that has a width: `1.987 (1.974 to 2.001)`."""
    if measured.low == measured.high:
        return f"{measured.value:.{_DIGITS}g}"
    decimals = max(_DIGITS - 1 - math.floor(math.log10(abs(measured.value) or 1)), 0)
    return f"{measured.value:.{decimals}f} ({measured.low:.{decimals}f} to {measured.high:.{decimals}f})"
