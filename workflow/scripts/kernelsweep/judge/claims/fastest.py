"""The sides of a claim about a study with a problem file: the fastest configurations at one point, with their times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.places import at_place, place_axes
from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import point_text
from kernelsweep.judge.claims.claim import Claim, NotMeasured
from kernelsweep.results import DRIVER_LIMIT_KERNELS


def fastest_sides(claim: Claim, data: StudyData) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The rows of the fastest configurations of the claim's kernel, or of all kernels, and of its reference kernel.

    Compared at the reference point's size and cache state, and at what the claim's `at` says. Raises NotMeasured.
    """
    reference = data.settings["reference"]
    place = {axis: reference[axis] for axis in place_axes(data.settings)} | dict(claim.at)
    undefined = undefined_kernels(data.measurements)
    kernels = [claim.kernel] if claim.kernel else [name for name in data.kernel_names if name not in undefined]
    return _fastest(kernels, place, data), _fastest([claim.reference_kernel], place, data)


def _fastest(kernels: Sequence[str], place: Mapping[str, Any], data: StudyData) -> Mapping[str, Any]:
    of_kernels = data.measurements[data.measurements["kernel"].isin(kernels)]
    if {*kernels} <= {*DRIVER_LIMIT_KERNELS}:  # The driver's points have no axis of a kernel.
        place = {axis: value for axis, value in place.items() if axis in place_axes(data.settings)}
    rows = at_place(of_kernels, place)
    named = kernels[0] if len(kernels) == 1 else "a kernel"
    if rows.empty:
        raise NotMeasured(f"{named} at {point_text(place)} is not in this sweep")
    with_times = timed(rows, data.device)
    if with_times.empty:
        raise NotMeasured(f"{named} at {point_text(place)}: {_why(rows)}")
    (fastest,) = with_times.nsmallest(1, "time_us").to_dict("records")
    return {str(column): value for column, value in fastest.items()}


def _why(rows: pandas.DataFrame) -> str:
    """The statuses of rows without times, with a message."""
    messages = [" ".join(str(message).split()) for message in rows["message"] if message]
    statuses = ", ".join(sorted({str(status).replace("_", " ") for status in rows["status"]}))
    return f"{statuses}: {messages[0]}" if messages else statuses
