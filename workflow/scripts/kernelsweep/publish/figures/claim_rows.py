"""The rows of the claims' figure: of claims.csv, those that give a number, and its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas

from kernelsweep.judge.claims.claim import ABOUT, CLAIM_VERDICTS, EVERY_SIZE, HOLDS, SOME_SIZES, allowed, anchor

NUMBERS = ("ratio", "low", "high", "least", "most")
# A claim that holds is near its limit from this part of what it allows on.
NEAR = 0.75


def has_number(row: Mapping[str, str]) -> bool:
    """Whether a claim gives a number, and was measured."""
    return row["relation"] == ABOUT and bool(row["measured"]) and float(row["published"]) != 0


def claim_rows(claims: Sequence[Mapping[str, str]], stories: Mapping[str, Sequence[str]]) -> pandas.DataFrame:
    """A mark per claim with a number; equal ones share one. A source's claims that hold and aren't near share a row.

    stories           the names of each study's steps, in their order

    ratio, low, high  measured over published, with its interval
    least, most       the ends of what the claim allows, over published
    head              its source, the size at which its claims were judged if it is one, and how many hold
    name              of its row: the kernel, and what it is compared with, unless that is the step before it; or how
                      many more hold, with the ends of their ratios
    mark              its quantity; "" in such a row
    verdict           one of CLAIM_VERDICTS
    link              to it on the page
    count             how many claims share the mark
    """
    rows = pandas.DataFrame([_ratios(row, stories.get(row["study"], ())) for row in claims if has_number(row)])
    limits = rows["most"].where(rows["ratio"] > 1, rows["least"])
    is_more = (rows["verdict"] == HOLDS) & ((rows["ratio"] - 1) / (limits - 1) <= NEAR)
    # A single one has a row of its own.
    is_more &= is_more.groupby(rows["head"]).transform("sum") > 1
    rows.loc[is_more, "mark"] = ""
    rows["ratio"] = rows["ratio"].where(~is_more, rows["ratio"].round(2))
    more = rows[is_more].groupby("head")["ratio"].agg(["size", "min", "max"])
    names = {head: f"{size} more hold: {low:.2f}–{high:.2f}" for head, size, low, high in more.itertuples()}
    rows["name"] = rows["name"].where(~is_more, rows["head"].map(names))
    # Sources and kernels have their order.
    first = {"source": rows["head"], "row": rows["head"] + rows["name"]}
    rows = rows.assign(more=is_more, **{name: pandas.factorize(keys)[0] for name, keys in first.items()})
    heads = {head: f"{head}{_holds(of_source)}" for head, of_source in rows.groupby("head")}
    ends = {name: (name, "min" if name in ("low", "least") else "max") for name in NUMBERS[1:]}
    key = ["source", "more", "row", "head", "name", "mark", "verdict", "ratio"]
    of_marks = rows.assign(head=rows["head"].map(heads)).groupby(key)
    return of_marks.agg(**ends, link=("link", "first"), count=("link", "size")).reset_index()


def _ratios(row: Mapping[str, str], story: Sequence[str]) -> dict[str, Any]:
    value = float(row["published"])
    ends = allowed(ABOUT, value, float(row["tolerance"]), bool(row["reference_kernel"]))
    numbers = [float(row[name]) for name in ("measured", "low", "high")] + [*ends]
    return {
        "head": row["source"],
        **{name: round(number / value, 4) for name, number in zip(NUMBERS, numbers, strict=True)},
        "verdict": row["verdict"] if row["verdict"] in CLAIM_VERDICTS else SOME_SIZES,
        "sizes": row["sizes_held"],
        "size": row["size"],
        "name": _name(row, story),
        "mark": row["quantity"].replace("_", " "),
        "link": f"#{anchor(row['id'])}",
    }


def _holds(rows: pandas.DataFrame) -> str:
    """How many of a source's claims hold, and at which size; of a single one that holds at some sizes, at how many."""
    holds, some = ((rows["verdict"] == verdict).sum() for verdict in (HOLDS, SOME_SIZES))
    size, *others = {*rows["size"]}
    where = f" at {size.replace(EVERY_SIZE, 'every size')}" if size and not others else ""
    sizes = rows.loc[rows["verdict"] == SOME_SIZES, "sizes"].iloc[0] if some == 1 else "some"
    return f"{where}: {holds} of {len(rows)} hold" + (f", {some} at {sizes} sizes" if some else "")


def _name(row: Mapping[str, str], story: Sequence[str]) -> str:
    """The kernel of a claim, and what it is compared with unless that is the step before it: `unrolled ×8 / ×2`."""
    of, over = (
        [row[kernel], *(word for word in row[at].split() if word != "unroll=1" and not word.endswith("=every"))]
        for kernel, at in (("kernel", "at"), ("reference_kernel", "reference_at"))
    )
    name, base = (" ".join(map(str, words)).replace("unroll=", "×") for words in (of, over))
    if not row["reference_kernel"] or (base, name) in pairwise(story):
        return name
    return f"{name} / {base if of[0] != over[0] else base.removeprefix(over[0]).strip() or '×1'}"
