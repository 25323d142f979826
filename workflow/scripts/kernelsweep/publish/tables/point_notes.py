"""Texts about a kernel's points for every table: how many are right, and why the row's point is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas

from kernelsweep.analysis.reference import UNDEFINED_BEHAVIOUR
from kernelsweep.publish.tables.formats import EMPTY
from kernelsweep.results import EDITED, MESSAGE_LENGTH, PROOF_FAILED

# The status of a row whose point was not measured, and of a row that only the publication has.
NOT_MEASURED = "not_measured"
PUBLISHED_ONLY = "published_only"

POINT_COUNTS = ("points_right", "points_run", "points_skipped")

FLAG_NOTES = {
    UNDEFINED_BEHAVIOUR: (
        "Undefined behaviour in CUDA: result and time may change with the compiler or the GPU;"
        " measured, never a baseline."
    ),
    "noisy": "Noisy: a visit reached its limit of samples or seconds before its median was as precise as asked.",
    "imprecise": "Imprecise: the 95% interval, which spans the visits, is wider than asked.",
    "throttled": "Throttled: the GPU's clock was held back, and pauses didn't help.",
    "once_wrong": "Wrong in an earlier run of the same code, and right now: its result is not to be relied on.",
    "runs_again": "Maybe the machine's fault: the next command runs it again.",
    "set_clocks": "The GPU's clock was held by a setting of the user's.",
    "other_processes": "Other processes were on the GPU.",
    PROOF_FAILED: "Not proven: the proof found a mistake in this kernel (proofs.csv); never the best, in no claim.",
    EDITED: "Recorded before your edit of this kernel.",
    "partial_barrier": "Partial barrier: threads passed one only because others of their block had ended.",
}


def point_counts(kernel: str, measurements: pandas.DataFrame) -> dict[str, Any]:
    """The columns POINT_COUNTS and failures for the kernel's whole sweep."""
    counts = measurements.loc[measurements["kernel"] == kernel, "status"].value_counts()
    failed = counts.drop(["ok", "skipped"], errors="ignore").sort_index()
    return {
        "points_right": counts.get("ok", 0),
        "points_run": counts.sum() - counts.get("skipped", 0),
        "points_skipped": counts.get("skipped", 0),
        "failures": ", ".join(f"{count} {status}" for status, count in failed.items()),
    }


def right_text(row: pandas.Series[Any]) -> str:
    """The counts in words: `158 of 160; 2 wrong result; 20 skipped`."""
    if pandas.isna(row["points_run"]):
        return EMPTY
    text = f"{row['points_right']} of {row['points_run']}"
    if row["failures"]:
        text += f"; {row['failures'].replace('_', ' ')}"
    return text + (f"; {row['points_skipped']} skipped" if row["points_skipped"] else "")


def flag_notes(row: pandas.Series[Any]) -> list[str]:
    """The meanings of the row's flags."""
    return [FLAG_NOTES.get(flag, flag.replace("_", " ") + ".") for flag in row["flags"].split()]


def failure_note(row: pandas.Series[Any], place: str) -> list[str]:
    """Why the row's point, at `place`, has no right result; nothing if it has one or wasn't tried."""
    if row["status"] in ("ok", PUBLISHED_ONLY, NOT_MEASURED):
        return []
    message = " ".join(row["message"].split())
    message = message if len(message) <= MESSAGE_LENGTH else message[: MESSAGE_LENGTH - 1] + "…"
    return [f"At {place}: {row['status'].replace('_', ' ')}; {message or 'no message'}"]


def numbered(texts: Sequence[Sequence[str]]) -> tuple[list[list[int]], list[str]]:
    """Each row's footnote numbers (from 1), and the footnotes, each once."""
    notes = list(dict.fromkeys(text for row in texts for text in row))
    return [sorted(notes.index(text) + 1 for text in row) for row in texts], notes
