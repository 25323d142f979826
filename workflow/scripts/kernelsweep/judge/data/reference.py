"""Select rows of measurements: at a study's reference point, of its own kernels, with a time to report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas

from kernelsweep.device.kinds import KINDS
from kernelsweep.results import PROOF_FAILED
from kernelsweep.study.settings import StudySettings

UNDEFINED_BEHAVIOUR, THROTTLED = "undefined_behaviour", "throttled"


def at_reference(study: StudySettings, measurements: pandas.DataFrame, free: Sequence[str] = ()) -> pandas.DataFrame:
    """The rows at the study's reference point; the axes in `free` may differ from it."""
    return at_place(measurements, {axis: value for axis, value in study.reference.items() if axis not in free})


def at_place(rows: pandas.DataFrame, place: Mapping[str, Any]) -> pandas.DataFrame:
    """The rows with these values on the axes of `place`."""
    # One selection: each copies all columns.
    wanted = [(rows[axis] == value).fillna(False).to_numpy(bool) for axis, value in place.items()]
    return rows[np.logical_and.reduce(wanted)] if wanted else rows


def with_shown_output(study: StudySettings, measurements: pandas.DataFrame) -> pandas.DataFrame:
    """The rows whose outputs the study compares with published ones, of any array size; none if it compares times."""
    rows = at_reference(study, measurements, free=("block_size", "array_size"))
    if study.compares != "outputs":
        return rows.iloc[:0]
    is_one_block = rows["block_size"] * rows["unroll"] == rows["array_size"]
    has_width = rows["width"] == study.reference["block_size"]
    shown: pandas.DataFrame = rows[is_one_block & has_width]
    return shown.sort_values("unroll")


def has_times(device: Mapping[str, Any]) -> bool:
    """Whether the device's times are reported: a GPU's are, an emulator's never."""
    return KINDS[device["kind"]].has_clock


def timed(rows: pandas.DataFrame, device: Mapping[str, Any]) -> pandas.DataFrame:
    """The rows with a time to report: status `ok`, of a kernel whose proof found nothing, on a device with a clock."""
    return rows[(rows["status"] == "ok") & rows["time_us"].notna() & ~flagged(rows, PROOF_FAILED) & has_times(device)]


def shown_status(rows: pandas.DataFrame) -> pandas.Series[Any]:
    """Each row's status for readers: PROOF_FAILED where the result is right, but the kernel's proof found a mistake."""
    return rows["status"].mask((rows["status"] == "ok") & flagged(rows, PROOF_FAILED), PROOF_FAILED)


def flagged_kernels(measurements: pandas.DataFrame, flag: str) -> set[str]:
    """The kernels with a flag; those of UNDEFINED_BEHAVIOUR or PROOF_FAILED are never called the fastest."""
    return set(measurements.loc[flagged(measurements, flag), "kernel"])


def undefined_kernels(measurements: pandas.DataFrame) -> set[str]:
    """The kernels flagged `undefined_behaviour`: shown, but never called the fastest, and never a baseline."""
    return flagged_kernels(measurements, UNDEFINED_BEHAVIOUR)


def flagged(rows: pandas.DataFrame, flag: str) -> pandas.Series[bool]:
    """Whether each row has a flag."""
    return rows["flags"].astype("category").map(lambda flags: flag in flags.split()).astype(bool)
