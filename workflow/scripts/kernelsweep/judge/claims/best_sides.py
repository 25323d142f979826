"""The sides of a claim about a study without steps: the best configurations at one point, by its objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from kernelsweep.analysis.objective import with_costs
from kernelsweep.analysis.places import at_place, place_axes
from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import point_text
from kernelsweep.judge.claims.claim import Claim, NotMeasured
from kernelsweep.results import DRIVER_LIMIT_KERNELS


def best_sides(claim: Claim, data: StudyData) -> list[Mapping[str, Any]]:
    """The rows of the best configurations of the claim's kernel, or of all kernels, and of its reference kernel if any.

    Compared at the reference point's size and cache state, and at what the claim's `at` says. Raises NotMeasured.
    """
    reference = data.settings["reference"]
    place = {axis: reference[axis] for axis in place_axes(data.settings)} | dict(claim.at)
    undefined = undefined_kernels(data.measurements)
    kernels = [claim.kernel] if claim.kernel else [name for name in data.kernel_names if name not in undefined]
    sides = [kernels, *([[claim.reference_kernel]] if claim.reference_kernel else [])]
    return [_best(side, place, data) for side in sides]


def _best(kernels: Sequence[str], place: Mapping[str, Any], data: StudyData) -> Mapping[str, Any]:
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
    with_objective = with_costs(with_times, data.settings)
    if with_objective.empty:
        raise NotMeasured(f"{named} at {point_text(place)} has no {data.settings['objective']}")
    (best,) = with_objective.nsmallest(1, "cost").to_dict("records")
    return {str(column): value for column, value in best.items()}


def _why(rows: pandas.DataFrame) -> str:
    """The statuses of rows without times, with a message."""
    messages = [" ".join(str(message).split()) for message in rows["message"] if message]
    statuses = ", ".join(sorted({str(status).replace("_", " ") for status in rows["status"]}))
    return f"{statuses}: {messages[0]}" if messages else statuses
