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

    Those that hold are in a row for each width that they allow.

    ratio, low, high  measured over published, with its interval
    least, most       the ends of what the claim allows, over published
    head              of a source's first mark, its name and its device; else ""
    holds             of a source's first mark, how many of its claims hold, or of a single claim its verdict; else ""
    name              of its row: of those that hold, what they allow; the others name their kernel, and, of several
                      with the same name, what it is compared with
    verdict           one of CLAIM_VERDICTS
    link              to the first of them on the page
    count             how many claims the mark stands for: those that hold, with the same ratio
    """
    rows = pandas.DataFrame([_ratios(row) for row in claims if has_number(row)])
    fails = rows["verdict"] != HOLDS
    is_alike = fails & rows.duplicated(["head", "name", "what"], keep=False)
    rows["name"] += rows["base"].where(is_alike, "") + rows["what"].where(fails, "")
    words = [_holds(of) for _, of in rows.groupby("head", sort=False)]
    rows["own"] = [*range(len(rows))]
    rows["own"] = rows["own"].where(rows["verdict"] != HOLDS, -1)
    ends = {name: (name, "min" if name in ("low", "least") else "max") for name in NUMBERS[1:]}
    alike = rows.groupby(["head", "verdict", "name", "ratio", "own"], sort=False)
    rows = alike.agg(**ends, link=("link", "first"), count=("link", "size")).reset_index()
    rows = rows.assign(source=pandas.factorize(rows["head"])[0], fails=rows["verdict"] != HOLDS)
    rows = rows.assign(wide=rows["most"].round(2).where(~rows["fails"], 0))
    rows = rows.sort_values(["source", "fails", "wide", "ratio"], ignore_index=True).drop(columns="wide")
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
        "written": row["verdict"],
        **_names(row, ends[1] / value - 1),
        "link": f"#{anchor(row['id'])}",
    }


def _holds(rows: pandas.DataFrame) -> str:
    """How many of a source's claims hold; of a single one, its verdict in words."""
    if len(rows) == 1:
        return str(rows["written"].iloc[0])
    holds, some = ((rows["verdict"] == verdict).sum() for verdict in (HOLDS, SOME_SIZES))
    return f"{holds} of {len(rows)} hold" + (f", {some} at some sizes" if some else "")


def _names(row: Mapping[str, str], width: float) -> dict[str, str]:
    """The kernel that a claim is on, what it is compared with, and its quantity if it isn't the speedup.

    Such as `unrolled ×8`, ` / ×4` or ` / interleaved`, and `: barrier stall`. If the claim holds, it is named by the
    `width` that it allows.
    """
    name, base = (
        [row[kernel], *(word for word in row[at].split() if word != "unroll=1" and not word.endswith("=every"))]
        for kernel, at in (("kernel", "at"), ("reference_kernel", "reference_at"))
    )
    if base[0] == name[0]:
        base = base[1:] or ["×1"]
    held = f"hold, ±{width:.0%} allowed" if round(width, 2) else "hold, as published"
    words = {
        "name": held if row["verdict"] == HOLDS else " ".join(name),
        "base": " / " + " ".join(base) if row["reference_kernel"] else "",
    }
    what = "" if row["quantity"] == SPEEDUP else f": {row['quantity'].replace('_', ' ')}"
    return {key: text.replace("unroll=", "×") for key, text in words.items()} | {"what": what}
