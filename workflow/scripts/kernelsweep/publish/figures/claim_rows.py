"""The rows of the claims' figure: of claims.csv, those that give a number, and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.judge.claims.claim import ABOUT, HOLDS, SOME_SIZES, allowed, anchor, verdict_kind
from kernelsweep.judge.data.published import SPEEDUP

NUMBERS = ("ratio", "low", "high", "least", "most")


def has_number(row: Mapping[str, str]) -> bool:
    """Whether a claim gives a number, and was measured."""
    return row["relation"] == ABOUT and bool(row["measured"]) and float(row["published"]) != 0


def claim_rows(claims: Sequence[Mapping[str, str]]) -> pandas.DataFrame:
    """A mark per claim with a number; those of a source together, first those that hold, then by their ratios.

    ratio, low, high  measured over published, with its interval
    least, most       the ends of what the claim allows, over published
    head              of a source's first mark, its name and its device; else ""
    holds             of a source's first mark, how many of its claims hold; else ""
    name              of its row: the claims of a source that hold share one; the others name their kernel
    verdict           one of CLAIM_VERDICTS
    link              to the first of them on the page
    count             how many claims the mark stands for: those that hold, with the same ratio
    """
    rows = pandas.DataFrame([_ratios(row) for row in claims if has_number(row)])
    rows["own"] = [*range(len(rows))]
    rows["own"] = rows["own"].where(rows["verdict"] != HOLDS, -1)
    ends = {name: (name, "min" if name in ("low", "least") else "max") for name in NUMBERS[1:]}
    alike = rows.groupby(["head", "verdict", "name", "ratio", "own"], sort=False)
    rows = alike.agg(**ends, link=("link", "first"), count=("link", "size")).reset_index()
    rows = rows.assign(source=pandas.factorize(rows["head"])[0], fails=rows["verdict"] != HOLDS)
    rows = rows.sort_values(["source", "fails", "ratio"], ignore_index=True)
    words = []
    for _, of in rows.groupby("source"):
        holds, some = (of.loc[of["verdict"] == verdict, "count"].sum() for verdict in (HOLDS, SOME_SIZES))
        words.append(f"{holds} of {of['count'].sum()} hold" + (f", {some} at some sizes" if some else ""))
    rows, is_first = rows.assign(holds=rows["source"].map(dict(enumerate(words)))), ~rows["source"].duplicated()
    return rows.assign(**{name: rows[name].where(is_first, "") for name in ("head", "holds")})


def _ratios(row: Mapping[str, str]) -> dict[str, Any]:
    value = float(row["published"])
    ends = allowed(ABOUT, value, float(row["tolerance"]), bool(row["reference_kernel"]))
    numbers = [float(row[name]) for name in ("measured", "low", "high")] + [*ends]
    return {
        "head": ": ".join(filter(None, (row["source"], row["source_device"]))),
        **{name: round(number / value, 3) for name, number in zip(NUMBERS, numbers, strict=True)},
        "verdict": verdict_kind(row["verdict"]),
        "name": HOLDS if row["verdict"] == HOLDS else _name(row),
        "link": f"#{anchor(row['id'])}",
    }


def _name(row: Mapping[str, str]) -> str:
    """The kernel that a claim is on, and its quantity if it isn't the speedup: `unrolled ×8: barrier stall`."""
    at = [word for word in row["at"].split() if word != "unroll=1" and not word.endswith("=every")]
    what = "" if row["quantity"] == SPEEDUP else f": {row['quantity'].replace('_', ' ')}"
    return " ".join([row["kernel"], *at]).replace("unroll=", "×") + what
