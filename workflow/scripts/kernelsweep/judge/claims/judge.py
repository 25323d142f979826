"""Judge claims: look up each claim's quantity in the measurements and metrics, and decide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas

from kernelsweep.analysis.objective import quantity_of_row
from kernelsweep.analysis.reference import at_reference, has_times, with_shown_output
from kernelsweep.analysis.step_metrics import ANOTHER_BUILD, why_none
from kernelsweep.analysis.steps import Step, ladder_steps
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import reference_text, step_name
from kernelsweep.intervals import Interval, ratio, time_interval
from kernelsweep.judge.claims.best_sides import best_sides
from kernelsweep.judge.claims.claim import EVERY_SIZE, OUTPUT, SPEEDUP, Claim, NotMeasured, compares_fastest
from kernelsweep.judge.claims.relations import FAILS, HOLDS, NOT_DECIDABLE, UNMEASURED, decide
from kernelsweep.results import ALL_POINT_COLUMNS, BASELINE_PREFIX, COUNTED, MESSAGE_LENGTH, PROOF_FAILED
from kernelsweep.sweep.study_quantities import quantities_of

_NO_TIMES = "no times on this platform"

# What is read of a measurement. Each selection of rows copies all columns, of which a study may have dozens.
_READ = ("study", "kernel", *ALL_POINT_COLUMNS, "status", "message", "flags", "output", "binary_sha256")
_TIMES = ("time_us", "time_low_us", "time_high_us")

# Flags of times that are doubtful beyond their intervals.
_REMARKS = ("throttled", "other_processes")


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict, one of relations.CLAIM_VERDICTS.

    measured  the quantity with its interval; None if there is none, and for outputs
    output    the kernel's output, for a claim about it
    message   the reason for a missing quantity, or a remark on the quantity
    elsewhere the verdicts at the sweep's other array sizes and cache states: (cache, size, verdict), for speedups
    """

    claim: Claim
    verdict: str
    measured: Interval | None = None
    output: str = ""
    message: str = ""
    elsewhere: Sequence[tuple[str, int, str]] = ()


@dataclass(frozen=True)
class _Point:
    """The results of a study at one point: its reference point, or a claim's own point.

    where      the point in words
    rows       its measurements
    on_host    its measurements with any block size and cache state, which the host's baselines don't have
    outputs    its measurements whose outputs are compared with published ones
    metrics    its metrics
    steps      the ladder's
    kernels    the study's kernels
    times      those that were looked up, with a remark, or why there is none; by kernel and unroll factor
    """

    where: str
    rows: pandas.DataFrame
    on_host: pandas.DataFrame
    outputs: pandas.DataFrame
    metrics: pandas.DataFrame
    steps: Sequence[Step]
    kernels: Collection[str]
    uncertainties: Mapping[str, float]
    device: Mapping[str, Any]
    times: dict[tuple[str, int], tuple[Interval, str] | NotMeasured] = field(default_factory=dict)

    @property
    def is_recorded(self) -> bool:
        """Whether the results come from a recording."""
        return str(self.device["provenance"]).startswith("recorded")


def judge(claims: Sequence[Claim], data: StudyData, uncertainties: Mapping[str, float]) -> list[Judged]:
    """The claims about a study with their verdicts, in their order.

    uncertainties  by a metric's name, its run-to-run variation as a fraction; 0 for counts
    """
    if compares_fastest(data.settings):
        return [_judge_best(claim, data) for claim in claims]
    points: dict[str, _Point] = {}
    data = replace(data, measurements=data.measurements.filter([*_READ, *_TIMES]))

    def judged_at(claim: Claim, **others: Any) -> Judged:
        at = {**claim.at, **others}
        if at.get("array_size") == EVERY_SIZE:
            del at["array_size"]
        if str(at) not in points:
            points[str(at)] = _point(at, data, uncertainties)
        return _judge(claim, points[str(at)])

    places = _places(data) if claims else []
    return [_with_places(judged_at(claim), claim, places, judged_at) for claim in claims]


def _places(data: StudyData) -> list[tuple[str, int]]:
    """The cache states and array sizes at which the reference point's type and operation were measured."""
    free = ("array_size", "cache", "block_size")
    rows = at_reference(data.settings, data.measurements, free)
    rows = rows[(rows["status"] == "ok") & rows["kernel"].isin(data.kernel_names)]
    return sorted({(str(cache), int(size)) for cache, size in zip(rows["cache"], rows["array_size"], strict=True)})


def _with_places(
    judged: Judged, claim: Claim, places: Sequence[tuple[str, int]], judged_at: Callable[..., Judged]
) -> Judged:
    """The claim with its verdicts at other places; if it is meant of every size, they decide, too."""
    if claim.quantity != SPEEDUP or judged.verdict == UNMEASURED:
        return judged
    found = [(cache, size, judged_at(claim, array_size=size, cache=cache).verdict) for cache, size in places]
    known = [(cache, size, verdict) for cache, size, verdict in found if verdict != UNMEASURED]
    verdict = judged.verdict
    if claim.at.get("array_size") == EVERY_SIZE:
        verdicts = {verdict for _, _, verdict in known}
        verdict = verdicts.pop() if len(verdicts) == 1 else NOT_DECIDABLE
    return replace(judged, verdict=verdict, elsewhere=known)


def _point(at: Mapping[str, Any], data: StudyData, uncertainties: Mapping[str, float]) -> _Point:
    axes = {axis: value for axis, value in at.items() if axis != "grid_size"}
    study = {**data.settings, "reference": {**data.settings["reference"], **axes}}
    steps = ladder_steps(study, data.device)
    if "grid_size" in at:
        steps = [step if step.grid_size is None else replace(step, grid_size=at["grid_size"]) for step in steps]
    return _Point(
        where=reference_text(study),
        rows=at_reference(study, data.measurements),
        on_host=at_reference(study, data.measurements, free=("block_size", "cache")),
        outputs=with_shown_output(study, data.measurements),
        metrics=at_reference(study, data.metrics.rows),
        steps=steps,
        kernels=data.kernel_names,
        uncertainties=uncertainties,
        device=data.device,
    )


def _judge_best(claim: Claim, data: StudyData) -> Judged:
    """A claim about the reference kernel's time over the kernel's, or a quantity, each at its best configuration."""
    if not data.has_times:
        return Judged(claim, UNMEASURED, message=_NO_TIMES)
    try:
        sides = best_sides(claim, data)
        measured = _of_sides(claim, sides, data)
    except NotMeasured as reason:
        return Judged(claim, UNMEASURED, message=str(reason))
    remarks = [_flagged(side["kernel"], side) for side in sides]
    verdict = decide(claim.relation, measured, float(claim.value), claim.tolerance or 0)
    return Judged(claim, verdict, measured, message="; ".join(filter(None, remarks)))


def _of_sides(claim: Claim, sides: Sequence[Mapping[str, Any]], data: StudyData) -> Interval:
    """The claim's quantity of the kernel's row, or its ratio to the reference kernel's."""
    if claim.quantity == SPEEDUP:
        fast, slow = map(time_interval, sides)
        return ratio(over=slow, under=fast)
    quantity = quantities_of(data.settings)[claim.quantity]
    found = [quantity_of_row(quantity, side, data.settings) for side in sides]
    for side, interval in zip(sides, found, strict=True):
        if interval is None:
            raise NotMeasured(f"{side['kernel']} has no {quantity.name}")
    value, *reference = filter(None, found)
    return ratio(over=value, under=reference[0]) if reference else value


def _flagged(name: str, row: Mapping[str, Any]) -> str:
    """A remark on a row whose time is doubtful beyond its interval; "" otherwise."""
    flags = [flag.replace("_", " ") for flag in _REMARKS if flag in str(row["flags"]).split()]
    return f"{name}: {', '.join(flags)}" if flags else ""


def _judge(claim: Claim, point: _Point) -> Judged:
    try:
        if claim.quantity == OUTPUT:
            output = _output(claim, point)
            return Judged(claim, HOLDS if output == claim.value else FAILS, output=output)
        remarks: list[str] = []
        measured = _speedup(claim, point, remarks) if claim.quantity == SPEEDUP else _metric(claim, point)
    except NotMeasured as reason:
        return Judged(claim, UNMEASURED, message=str(reason))
    verdict = decide(claim.relation, measured, float(claim.value), claim.tolerance or 0, bool(claim.reference_kernel))
    return Judged(claim, verdict, measured, message="; ".join(remarks))


def _speedup(claim: Claim, point: _Point, remarks: list[str]) -> Interval:
    """The reference kernel's time over the kernel's."""
    if not has_times(point.device):
        raise NotMeasured(_NO_TIMES)
    slow = _time(claim.reference_kernel, claim.reference_unroll, point, remarks)
    fast = _time(claim.kernel, claim.unroll, point, remarks)
    return ratio(over=slow, under=fast)


def _time(kernel: str, unroll: int, point: _Point, remarks: list[str]) -> Interval:
    """A kernel's time at a point. Many claims need the same ones, and each takes milliseconds to look up."""
    if (kernel, unroll) not in point.times:
        point.times[kernel, unroll] = _found_time(kernel, unroll, point)
    known = point.times[kernel, unroll]
    if isinstance(known, NotMeasured):
        raise known
    time, remark = known
    if remark:
        remarks.append(remark)
    return time


def _found_time(kernel: str, unroll: int, point: _Point) -> tuple[Interval, str] | NotMeasured:
    """A kernel's time and a remark on it, or why there is none."""
    name = step_name(kernel, unroll)
    try:
        if kernel.startswith(BASELINE_PREFIX):
            found = point.on_host[point.on_host["kernel"] == kernel]
        else:
            found = _step(kernel, unroll, point).rows(point.rows)
        row = _right_row(found, name, point)
    except NotMeasured as reason:
        return reason
    return time_interval(row), _flagged(name, row)


def _right_row(found: pandas.DataFrame, name: str, point: _Point) -> dict[Any, Any]:
    """The row of one side of a claim. Raises NotMeasured if there isn't exactly one, or its result isn't right."""
    if found.empty:
        raise NotMeasured(f"{name} at {point.where} is not {'recorded' if point.is_recorded else 'in this sweep'}")
    if len(found) > 1:
        raise NotMeasured(f"{name} ran in several grids, and no step says which one is meant")
    row = found.iloc[0].to_dict()  # to_dict("records") takes 1.2 ms, this 0.06
    if row["status"] != "ok":
        status, message = str(row["status"]).replace("_", " "), " ".join(str(row["message"]).split())
        raise NotMeasured(f"{name}: {status}" + (f": {message[:MESSAGE_LENGTH]}" if message else ""))
    if PROOF_FAILED in str(row["flags"]).split():
        raise NotMeasured(f"the proof of {name} found a mistake in the kernel (proofs.csv)")
    return row


def _step(kernel: str, unroll: int, point: _Point) -> Step:
    """One side of a claim as a step, with the grid that the ladder gives it."""
    if kernel not in point.kernels:
        raise NotMeasured(f"the study has no kernel {kernel}")
    named = [step for step in point.steps if (step.kernel, step.unroll) == (kernel, unroll)]
    return named[0] if named else Step(kernel, unroll)


def _metric(claim: Claim, point: _Point) -> Interval:
    """The kernel's metric, or its ratio to the reference kernel's."""
    value = _metric_of(claim.kernel, claim.unroll, claim.quantity, point)
    if not claim.reference_kernel:
        return value
    reference = _metric_of(claim.reference_kernel, claim.reference_unroll, claim.quantity, point)
    if reference.value == 0:
        name = step_name(claim.reference_kernel, claim.reference_unroll)
        raise NotMeasured(f"{claim.quantity} of {name} is 0, so there is no ratio to it")
    # Counts have no uncertainty, and 0 has no logarithm.
    if value.low == value.high and reference.low == reference.high:
        quotient = value.value / reference.value
        return Interval(quotient, quotient, quotient)
    return Interval(0, 0, 0) if value.value == 0 else ratio(over=value, under=reference)


def _metric_of(kernel: str, unroll: int, metric: str, point: _Point) -> Interval:
    step = _step(kernel, unroll, point)
    found = step.rows(point.metrics)
    if metric not in set(found["metric"]):
        if COUNTED in set(found["source"]):
            raise NotMeasured(f"the emulator doesn't count {metric}")
        if point.is_recorded and found.empty:
            raise NotMeasured(f"the counters of {step.name} are not recorded")
        if point.is_recorded:
            raise NotMeasured(f"not judged: the recording has no such counter ({metric})")
        raise NotMeasured(why_none(found, [metric], point.device))
    row = found[found["metric"] == metric].iloc[0]
    if pandas.isna(row["value"]):
        raise NotMeasured(str(row["message"]) or f"{metric} has no value")
    binaries = set(step.rows(point.rows)["binary_sha256"].dropna()) - {""}
    if binaries and row["binary_sha256"] not in {"", *binaries}:
        raise NotMeasured(ANOTHER_BUILD)
    value = float(row["value"])
    uncertainty = 0.0 if row["source"] == COUNTED else point.uncertainties.get(metric, 0.0)
    return Interval(value, value / (1 + uncertainty), value * (1 + uncertainty))


def _output(claim: Claim, point: _Point) -> str:
    """The kernel's output at the reference point, element by element."""
    rows = point.outputs[point.outputs["array_size"] == len(claim.value.split())]
    of_arguments = rows[rows["arguments"] == claim.arguments]
    found = _step(claim.kernel, claim.unroll, point).rows(of_arguments)
    return str(_right_row(found, f"{claim.kernel} with {claim.arguments}", point)["output"])
