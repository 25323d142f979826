"""Judge claims: look up each claim's quantity in the measurements and metrics, and decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas

from kernelsweep.errors import check_known
from kernelsweep.judge.claims.claim import (
    CLAIMS_FILE,
    EVERY_SIZE,
    FAILS,
    HOLDS,
    OTHER_HARDWARE,
    SOME_SIZES,
    UNKNOWN_CAUSE,
    UNMEASURED,
    Claim,
    NotMeasured,
    decide,
)
from kernelsweep.judge.data.published import OUTPUT, SPEEDUP
from kernelsweep.judge.data.reference import (
    at_place,
    flagged_kernels,
    shown_status,
    timed,
    undefined_kernels,
    with_shown_output,
)
from kernelsweep.judge.data.step_metrics import ANOTHER_BUILD
from kernelsweep.judge.data.study_data import StudyData, place_axes, place_words, size_axes
from kernelsweep.judge.data.words import point_text
from kernelsweep.results import COUNTED, INTERVAL, LIMIT_PREFIX, MESSAGE_LENGTH, PROOF_FAILED
from kernelsweep.statistics import Interval, ratio, time_interval

# What is read of a measurement, besides its axes. Each selection of rows copies all columns, of which there are dozens.
_READ = ("study", "kernel", "grid_size", "status", "message", "flags", "binary_sha256", *INTERVAL)

# Flags of times that are doubtful beyond their intervals.
_REMARKS = ("throttled", "other_processes")


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, one of CLAIM_VERDICTS.

    measured  the quantity with its interval; None if there is none, and for outputs
    output    the kernel's output, for a claim about it
    message   the reason for a missing quantity, or a remark on the quantity
    size      the size in words at which it was measured; EVERY_SIZE if the claim is about that; "" for outputs
    sizes     of a speedup, each size of the sweep with the verdict there
    elsewhere of a speedup, the same at each other cache state
    cause     why it does not hold, or not at every size that the claim is about
    """

    claim: Claim
    verdict: str
    measured: Interval | None = None
    output: str = ""
    message: str = ""
    size: str = ""
    sizes: Sequence[tuple[str, str]] = ()
    elsewhere: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    cause: str = ""


@dataclass(frozen=True)
class _Side:
    """One side of a claim: a kernel, or "" for the fastest of all, with its values on axes."""

    kernel: str
    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.kernel or 'a kernel'} {point_text(self.values)}".strip()


def judge(claims: Sequence[Claim], data: StudyData, uncertainties: Mapping[str, float]) -> list[Judged]:
    """The claims about a study with their verdicts, in their order.

    uncertainties  by a metric's name, its run-to-run variation as a fraction; 0 for counts

    Raises UserError for a cause that the study does not explain.
    """
    judge_of_study = _Judge(data, uncertainties)
    return [_with_cause(judge_of_study.judged(claim), data) for claim in claims]


def _with_cause(judged: Judged, data: StudyData) -> Judged:
    """A claim with its cause, if it fails anywhere among the sizes that it is about."""
    claim = judged.claim
    if claim.cause:
        check_known(claim.cause, [*data.settings.causes], f"{CLAIMS_FILE}: {claim.id}: cause is")
    if FAILS not in ([verdict for _, verdict in judged.sizes] if judged.verdict == SOME_SIZES else [judged.verdict]):
        return judged
    is_same_device = claim.cause == OTHER_HARDWARE and claim.source_device == data.device["name"]
    return replace(judged, cause=UNKNOWN_CAUSE if is_same_device else claim.cause or UNKNOWN_CAUSE)


class _Judge:
    """The rows of a study, looked up once for each side and place: many claims need the same."""

    def __init__(self, data: StudyData, uncertainties: Mapping[str, float]) -> None:
        self._data, self._uncertainties = data, uncertainties
        self._rows = _by_kernel(data.measurements.filter([*_READ, *data.settings.kinds]))
        self._timed = timed(data.measurements, data.device).index
        self._unproven = flagged_kernels(data.measurements, PROOF_FAILED)
        self._metrics = _by_kernel(data.metrics.rows)
        self._found: dict[str, Mapping[Any, Any] | str] = {}
        self._steps = data.steps
        self._place_axes = place_axes(data.settings)
        reference = data.settings.reference
        self._reference = reference if self._steps else {axis: reference[axis] for axis in self._place_axes}
        # The cache states and sizes at which the reference point's other values were measured.
        axes = ["cache", *(axis for axis in size_axes(data.settings) if axis in self._reference)]
        fixed = {axis: self._reference[axis] for axis in self._place_axes if axis in self._reference}
        rows = at_place(data.kernel_rows, {axis: value for axis, value in fixed.items() if axis not in axes})
        places = rows.loc[rows["status"] == "ok", axes].drop_duplicates().sort_values(axes).astype(object)
        self._places: list[dict[Any, Any]] = places.to_dict("records")

    def judged(self, claim: Claim) -> Judged:
        """A claim with its verdict; of a speedup also at other places, whose sizes decide if it is about every size."""
        at = {axis: value for axis, value in claim.at.items() if value != EVERY_SIZE}
        judged = self._judged_at(claim, at)
        if claim.quantity == OUTPUT or judged.verdict == UNMEASURED:
            return judged
        size = place_words({**self._reference, **at, **claim.axes}, self._data.settings)
        if claim.quantity != SPEEDUP:
            return replace(judged, size=size)
        at_caches: dict[str, list[tuple[str, str]]] = {}
        for place in self._places:
            if (verdict := self._judged_at(claim, {**at, **place}).verdict) != UNMEASURED:
                at_caches.setdefault(place["cache"], []).append((place_words(place, self._data.settings), verdict))
        sizes = at_caches.pop(str(at.get("cache", self._reference["cache"])), [])
        judged = replace(judged, size=size, sizes=sizes, elsewhere=at_caches)
        if claim.at.get("array_size") != EVERY_SIZE:
            return judged
        verdicts = {verdict for _, verdict in sizes}
        verdict = verdicts.pop() if len(verdicts) == 1 else SOME_SIZES
        remarks = "; ".join(filter(None, [f"at {size}", judged.message]))
        return replace(judged, verdict=verdict, message=remarks, size=EVERY_SIZE)

    def _judged_at(self, claim: Claim, at: Mapping[str, Any]) -> Judged:
        sides = [_Side(claim.kernel or "", claim.axes)]
        if claim.reference_kernel:
            sides.append(_Side(claim.reference_kernel, claim.reference_axes))
        remarks: list[str] = []
        try:
            for side in sides:
                if side.kernel in self._unproven:
                    raise NotMeasured(f"{side.name}: {PROOF_FAILED.replace('_', ' ')}")
            if claim.quantity == OUTPUT:
                output = self._output(claim)
                return Judged(claim, HOLDS if output == claim.value else FAILS, output=output)
            if claim.quantity == SPEEDUP:
                rows = [self._row(side, at) for side in sides]
                remarks = [_flagged(side, row) for side, row in zip(sides, rows, strict=True)]
                found = [time_interval(row) for row in rows][::-1]
            else:
                found = [self._metric(claim.quantity, side, at) for side in sides]
            measured = _ratio(*found)
        except NotMeasured as reason:
            return Judged(claim, UNMEASURED, message=str(reason))
        verdict = decide(claim.relation, measured, float(claim.value), claim.tolerance or 0, len(sides) > 1)
        return Judged(claim, verdict, measured, message="; ".join(filter(None, remarks)))

    def _at(self, side: _Side, at: Mapping[str, Any], rows: Mapping[str, pandas.DataFrame]) -> pandas.DataFrame:
        """A side's rows at the reference point with the changes in `at`, in the grid that the study's step gives it."""
        place = {**self._reference, **{axis: value for axis, value in at.items() if axis != "grid_size"}}
        if not side.kernel:
            left_out = undefined_kernels(self._data.measurements) | self._unproven
            frames = [frame for name, frame in rows.items() if name in self._data.kernel_names and name not in left_out]
        elif side.kernel in rows:
            frames = [rows[side.kernel]]
        else:
            raise NotMeasured(f"{side.name} is not in this sweep")
        if side.kernel.startswith(LIMIT_PREFIX):  # It has no axis of a kernel.
            place = {axis: value for axis, value in place.items() if axis in self._place_axes}
        selected = at_place(frames[0] if len(frames) == 1 else pandas.concat(frames), {**place, **side.values})
        for step in self._steps:
            if step.kernel == side.kernel and step.axes.items() <= side.values.items() and step.grid_size:
                selected = replace(step, grid_size=at.get("grid_size", step.grid_size)).rows(selected)
                break
        if selected.empty:
            raise NotMeasured(f"{side.name} at {point_text(place)} is not in this sweep")
        return selected

    def _row(self, side: _Side, at: Mapping[str, Any]) -> Mapping[Any, Any]:
        """The row of a side with the shortest time."""
        if not self._data.has_times:
            raise NotMeasured("no times on this platform")
        key = f"{side} {at}"
        if key not in self._found:
            rows = self._at(side, at, self._rows)
            of_times = rows[rows.index.isin(self._timed)]
            best = of_times.iloc[of_times["time_us"].argmin()].to_dict() if len(of_times) else None
            self._found[key] = best or f"{side.name}: {_why(rows)}"
        if isinstance(found := self._found[key], str):
            raise NotMeasured(found)
        return found

    def _metric(self, metric: str, side: _Side, at: Mapping[str, Any]) -> Interval:
        """A side's metric, with its run-to-run variation as interval."""
        missing = f"{metric} of {side.name} was not collected"
        try:
            selected = self._at(side, at, self._metrics)
        except NotMeasured:
            raise NotMeasured(missing) from None
        selected = selected[selected["metric"] == metric]
        if selected.empty:
            raise NotMeasured(missing)
        row = selected.iloc[0]
        if pandas.isna(row["value"]):
            raise NotMeasured(str(row["message"]) or f"{metric} of {side.name} has no value")
        if row["binary_sha256"]:
            binaries = set(self._at(side, at, self._rows)["binary_sha256"].dropna()) - {""}
            if binaries and row["binary_sha256"] not in binaries:
                raise NotMeasured(ANOTHER_BUILD)
        value = float(row["value"])
        uncertainty = 0.0 if row["source"] == COUNTED else self._uncertainties.get(metric, 0.0)
        return Interval(value, value / (1 + uncertainty), value * (1 + uncertainty))

    def _output(self, claim: Claim) -> str:
        rows = with_shown_output(self._data.settings, self._data.measurements)
        at = {"kernel": claim.kernel, "array_size": len(claim.published.split()), **claim.axes}
        selected = at_place(rows, at)
        if selected.empty:
            raise NotMeasured(f"{point_text(at)} is not in this sweep")
        if selected["status"].iloc[0] != "ok":
            raise NotMeasured(f"{point_text(at)}: {_why(selected)}")
        return str(selected["output"].iloc[0])


def _by_kernel(rows: pandas.DataFrame) -> dict[str, pandas.DataFrame]:
    return {str(kernel): of_kernel for kernel, of_kernel in rows.groupby("kernel")}


def _ratio(value: Interval, reference: Interval | None = None) -> Interval:
    """A quantity, or its ratio to the reference's. Counts have no uncertainty, and 0 has no logarithm."""
    if reference is None:
        return value
    if reference.value == 0:
        raise NotMeasured("there is no ratio to 0")
    if value.value == 0 or (value.low == value.high and reference.low == reference.high):
        quotient = value.value / reference.value
        return Interval(quotient, quotient, quotient)
    return ratio(over=value, under=reference)


def _flagged(side: _Side, row: Mapping[Any, Any]) -> str:
    flags = [flag.replace("_", " ") for flag in _REMARKS if flag in str(row["flags"]).split()]
    return f"{side.name}: {', '.join(flags)}" if flags else ""


def _why(rows: pandas.DataFrame) -> str:
    """The statuses of rows without times, with a message."""
    statuses = ", ".join(sorted({str(status).replace("_", " ") for status in shown_status(rows)}))
    messages = [" ".join(str(message).split())[:MESSAGE_LENGTH] for message in rows["message"] if message]
    return ": ".join([statuses, *messages[:1]])
