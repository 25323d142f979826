"""Find the best configuration of each kernel at each size, those that tie with it, and the fewest to use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from math import ceil, prod
from statistics import mean
from typing import Any

import numpy as np
import pandas

from kernelsweep.base.groups import grouped
from kernelsweep.judge.data.reference import THROTTLED, at_place, at_reference, timed, undefined_kernels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_axes, shown_place, size_axes
from kernelsweep.results import ALL_POINT_COLUMNS, INTERVAL, arithmetic_of
from kernelsweep.statistics import Interval, ratio, time_interval
from kernelsweep.study.axes import LARGEST_GRID, grid_on_device
from kernelsweep.study.expressions import number
from kernelsweep.study.kernels.source import GRID_SIZE
from kernelsweep.study.settings import KernelSettings, StudySettings, sides_of

Numbers = np.ndarray[Any, np.dtype[Any]]
RATES = ("bandwidth_gbs", "gflops", "peak_fraction")


@dataclass(frozen=True)
class Configuration:
    """A launch configuration with its time.

    parameters             the values of the axes that say how a kernel is built or launched; grid_size is None if the
                           kernel's launch plan sets it, and of what to use LARGEST_GRID for as many blocks as needed
    bandwidth_gbs, gflops  None where the problem's work names no bytes, or no flops
    peak_fraction          the share of the device's nearest peak, of memory or of arithmetic; None where none is known
    arithmetic             the kind of arithmetic of the problem's work; None where that names none
    peak_of                which peak the share is of: "memory", or a kind of arithmetic; None where there is no share
    throttled              whether too few samples were taken at the full clock; clock_mhz: the lowest that was seen
    has_fewer_blocks       of what to use, whether it has fewer thread blocks than grid_size at others of its sizes
    """

    parameters: Mapping[str, Any]
    time_us: float
    time_low_us: float
    time_high_us: float
    bandwidth_gbs: float | None
    gflops: float | None
    peak_fraction: float | None
    arithmetic: str | None = None
    peak_of: str | None = None
    throttled: bool = False
    clock_mhz: float | None = None
    has_fewer_blocks: bool = False

    @property
    def time(self) -> Interval:
        """The time with its interval."""
        return Interval(self.time_us, self.time_low_us, self.time_high_us)


@dataclass(frozen=True)
class Best:
    """The fastest of a kernel's configurations at one point.

    undefined  whether the kernel's behaviour is undefined, so that its results may be wrong
    point      the values of the other axes, such as array_size, dtype, operation and cache
    compared   the number of configurations with a time
    fastest    the one with the shortest median time
    ties       others by time, whose ratio to the fastest time has an interval that contains 1
    """

    study: str
    kernel: str
    undefined: bool
    point: Mapping[str, Any]
    compared: int
    fastest: Configuration
    ties: tuple[Configuration, ...]


def find_best(name: str, data: StudyData, beside: Sequence[str] | None = None) -> list[Best]:
    """The best configurations of a study's kernels, in the kernels' order, then by point. Empty without times.

    beside  names of libraries and limits, which are wanted instead, with each kind of arithmetic
    """
    kinds = data.settings.kinds
    axes = [axis for axis in dict.fromkeys([*ALL_POINT_COLUMNS, *kinds]) if axis in kinds]
    parameters, others = ([axis for axis in axes if (kinds[axis] == "kernel") == own] for own in (True, False))
    names, undefined = data.kernel_names if beside is None else [*beside], undefined_kernels(data.measurements)
    rows = timed(data.measurements[data.measurements["kernel"].isin(names)], data.device)
    # The other columns make the order of equal times reproducible.
    ordered = rows[["kernel", *axes, *INTERVAL, *RATES, "work", "peak_of", "clock_mhz", "flags"]]
    ordered = ordered.assign(arithmetic=arithmetic_by_row(ordered)).sort_values(["time_us", *parameters])
    inner = [*["arithmetic"] * (beside is not None), *others]
    of_place = ordered.groupby(["kernel", *inner], sort=False, dropna=False)
    ordered = ordered.assign(count=of_place["time_us"].transform("size"))
    near = ordered[may_tie(ordered["time_low_us"], of_place["time_high_us"].transform("first"))]
    places = grouped(near.to_dict("records"), lambda row: (names.index(row["kernel"]), *(row[axis] for axis in inner)))
    entries = []
    for _, (first, *slower) in sorted(places.items()):
        kernel, point = first["kernel"], {axis: first[axis] for axis in others}
        ties = [row for row in slower if is_tie(row, first)]
        fastest, *tied = (as_configuration(row, parameters, kernel in data.gridded) for row in (first, *ties))
        entries.append(Best(name, kernel, kernel in undefined, point, first["count"], fastest, tuple(tied)))
    return entries


def best_at(data: StudyData) -> dict[str, Best]:
    """The best configuration of each kernel, by kernel, at the place where kernels are compared; without limits."""
    rows = at_place(data.measurements, shown_place(data))
    found = find_best(data.title, replace(data, measurements=rows))
    return {best.kernel: best for best in found if best.kernel not in data.settings.limits}


def comparable(entries: Iterable[Best]) -> list[Best]:
    """The entries that may be called the fastest: of defined behaviour, and with the first one's kind of arithmetic.

    Arithmetic that rounds more, as on tensor cores, solves an easier problem.

    entries  the kernels' best configurations, in the kernels' order
    """
    allowed = [best for best in entries if not best.undefined]
    return [best for best in allowed if best.fastest.arithmetic == allowed[0].fastest.arithmetic]


def at_reference_kind(place: Mapping[str, Any], study: StudySettings) -> bool:
    """Whether a place has the reference's element type, operation and cache state; it may have any size."""
    kind = {axis: value for axis, value in study.reference.items() if axis not in size_axes(study)}
    return all(place.get(axis, value) == value for axis, value in kind.items())


def fastest_by_size(entries: Iterable[Best], study: StudySettings) -> list[Best]:
    """The fastest kernel's entry at each size, at the reference's other values; the smallest size first.

    Kernels that are limits, as one that only reads, solve a smaller problem and are left out.
    """
    judged = (one for one in entries if one.kernel not in study.limits and at_reference_kind(one.point, study))
    by_size = grouped(judged, lambda best: tuple(best.point[axis] for axis in size_axes(study)))
    allowed = (comparable(by_size[size]) for size in sorted(by_size))
    return [min(of_size, key=lambda best: best.fastest.time.value) for of_size in allowed if of_size]


def may_tie(lows: Any, ends: Any) -> Any:
    """Whether intervals from `lows` reach below the `ends` of shorter times': is_tie() is true of no others.

    Both are NumPy's arrays, or Series, as the result then is.
    """
    return lows <= ends * _ROUNDED


def is_tie(row: Mapping[Any, Any], fastest: Mapping[Any, Any]) -> bool:
    """Whether a configuration's time can't be distinguished from the fastest time."""
    return do_tie(time_interval(row), time_interval(fastest))


def do_tie(time: Interval, shortest: Interval) -> bool:
    """Whether a time can't be distinguished from the shortest."""
    return ratio(over=time, under=shortest).low <= 1


def as_configuration(row: Mapping[Any, Any], parameters: Sequence[str], gridded: bool) -> Configuration:
    """A row with a time as a configuration, on the axes `parameters`."""
    known = [name for name in parameters if name == "grid_size" or not pandas.isna(row[name])]
    values = {name: None if name == "grid_size" and not gridded else row[name] for name in known}
    time = time_interval(row)
    rates: dict[str, Any] = {column: None if pandas.isna(row[column]) else float(row[column]) for column in RATES}
    # Recordings of earlier versions don't name the peak: it was the memory's.
    peak_of = str(row["peak_of"] or "memory") if rates["peak_fraction"] else None
    return Configuration(
        values,
        time.value,
        time.low,
        time.high,
        **rates,
        arithmetic=arithmetic_of(row),
        peak_of=peak_of,
        throttled=THROTTLED in row["flags"].split(),
        clock_mhz=None if pandas.isna(row["clock_mhz"]) else float(row["clock_mhz"]),
    )


# A configuration does for a size where it costs at most this much more than the fastest, or ties with it ...
LITTLE = 0.02
# ... and is recommended for no size at which it costs more than this.
MOST = 0.10
# Logarithms are rounded.
_ROUNDED = 1 + 1e-9


@dataclass(frozen=True)
class Tie:
    """Another configuration that takes as long, as measured at the largest of the sizes."""

    kernel: str
    configuration: Configuration


@dataclass(frozen=True)
class Use:
    """A configuration to use for sizes of a study's problem.

    kind           the values of the axes that are neither sizes nor a configuration's, as dtype and cache; and its
                   `arithmetic` where that isn't the first kernel's, as it may round more
    sizes          the sizes, the smallest first
    everywhere     whether these are all sizes
    worst, mean    how much more it costs than the fastest of our kernels' configurations: 0.014 for 1.4%
    configuration  as measured at the largest of the sizes
    beside         there, the fastest library that was measured with the same arithmetic, or without any the study's
                   first kernel
    gains          at each of the sizes the time of the fastest library there, or of that kernel, over this
                   configuration's, whether it is throttled, and its name; None where none has one
    ties           those that tie with it at each of the sizes, the fastest first
    losses         how much more it costs at each of the sizes
    of_other_peak  as measured at the largest of the sizes that are nearer to another peak; None without any
    """

    study: str
    kernel: str
    kind: Mapping[str, Any]
    sizes: tuple[Mapping[str, Any], ...]
    everywhere: bool
    worst: float
    mean: float
    configuration: Configuration
    beside: str = ""
    gains: tuple[tuple[Interval, bool, str] | None, ...] = ()
    ties: tuple[Tie, ...] = ()
    losses: tuple[float, ...] = ()
    of_other_peak: Configuration | None = None

    @property
    def gain(self) -> Interval | None:
        """The last of the gains."""
        return self.gains[-1][0] if self.gains and self.gains[-1] else None


def find_uses(name: str, data: StudyData) -> list[Use]:
    """What to use for each kind of a study's problem and each kind of arithmetic; empty without times.

    First the configuration that loses least at its worst size, if that is at most MOST; of those whose worst losses tie
    within the error, the one that loses least on average. Then, if it loses more than LITTLE somewhere, the fewest that
    don't, by size, chosen alike, of which each is for a part of the sizes that share a value on the first axis of
    sizes, or for all with these values. Kernels of undefined behaviour, and limits, are left out. Nothing else decides
    what to use. The first kernel's arithmetic comes first: one that rounds more solves an easier problem.
    """
    parameters, sizes = kernel_axes(data.settings), size_axes(data.settings)
    kinds = [axis for axis in place_axes(data.settings) if axis not in sizes]
    uses, rows = [], _compared(data, parameters, sizes, kinds).sort_values("size", kind="stable")
    # Where only a library has a time, nothing of ours can be used.
    is_ours = rows.groupby(["kind", "rounding", "size"])["is_own"].transform("any")
    for _, of_kind in rows[is_ours].groupby(["kind", "rounding"]):
        choices, losses, little = _losses(of_kind[of_kind["is_own"]])
        of_size = of_kind.drop_duplicates("size")
        rows_before = [*of_kind["size"].searchsorted(of_size["size"]), len(of_kind)]
        places = [{axis: size[axis] for axis in sizes} for size in of_size.to_dict("records")]
        for start, end in _ranges(losses, little, places):
            here = of_kind.iloc[rows_before[start] : rows_before[end]]
            choice = _least(losses[..., start:end], little[:, start:end])
            of_choice = here[here["choice"] == choices[choice]].to_dict("records")
            chosen, used = of_choice[-1], _used(of_choice, parameters, data)
            largest_first = (_used([row], parameters, data) for row in reversed(of_choice))
            lost = losses[0, choice, start:end].tolist()
            uses.append(
                Use(
                    study=name,
                    kernel=chosen["kernel"],
                    kind={axis: chosen[axis] for axis in [*kinds, *["arithmetic"] * (chosen["rounding"] > 0)]},
                    sizes=tuple(places[start:end]),
                    everywhere=end - start == len(places),
                    worst=max(lost),
                    mean=mean(lost),
                    losses=tuple(lost),
                    configuration=used,
                    of_other_peak=next((one for one in largest_first if one.peak_of not in (None, used.peak_of)), None),
                    **_beside(here, of_choice),
                    ties=tuple(Tie(rows[-1]["kernel"], _used(rows, parameters, data)) for rows in _ties(here, chosen)),
                )
            )
    return uses


@cache  # A figure is drawn in several widths.
def reference_uses(data: StudyData) -> list[Use]:
    """What to use, of the kind of the study's reference point."""
    return find_uses(data.title, of_reference_kind(data))


def of_reference_kind(data: StudyData) -> StudyData:
    """A study's data with the reference's element type, operation and cache state alone, at any size."""
    free = [*size_axes(data.settings), *kernel_axes(data.settings)]
    return replace(data, measurements=at_reference(data.settings, data.measurements, free))


def of_reference(uses: Iterable[Use], name: str, study: StudySettings) -> list[Use]:
    """A study's, of the kind of its reference point."""
    return [use for use in uses if use.study == name and at_reference_kind(use.kind, study)]


def _compared(data: StudyData, parameters: list[str], sizes: list[str], kinds: list[str]) -> pandas.DataFrame:
    """The rows with times that are compared for what to use, with further columns.

    place       the kernel's in the story; libraries follow our kernels, which are `is_own`
    kind, size  numbers of the values on these axes, in their order
    row         a number; a row stands once for each value of grid_size that launches its blocks, `asked`
    choice      the number of the kernel with its parameters and what is asked, as texts in their order
    arithmetic  the kind of arithmetic; "" where the work names none
    rounding    0 for that of the kind's first kernel, and another number for each other
    """
    names = [*data.kernel_names, *data.measured_libraries]
    left_out = {*undefined_kernels(data.measurements), *data.settings.limits}
    rows = timed(data.measurements, data.device)
    columns = ["kernel", *data.settings.kinds, *INTERVAL, *RATES, "work", "peak_of", "clock_mhz", "flags"]
    rows = rows.loc[rows["kernel"].isin({*names} - left_out), columns]
    place = rows["kernel"].map({name: number for number, name in enumerate(names)}).astype("int64")
    rows = rows.assign(
        place=place,
        is_own=place < len(data.kernel_names),
        kind=_numbers(rows, kinds),
        size=_numbers(rows, sizes),
        arithmetic=arithmetic_by_row(rows),
    )
    first = rows.sort_values("place", kind="stable").drop_duplicates("kind").set_index("kind")["arithmetic"]
    rows["rounding"] = (1 + _numbers(rows, ["arithmetic"])) * (rows["arithmetic"] != rows["kind"].map(first))
    rows["row"] = range(len(rows))
    if "grid_size" in rows:
        kernels = {kernel.name: kernel for kernel in data.settings.kernels if kernel.name in data.gridded}
        asked = [_asked(row, kernels.get(row["kernel"]), data) for row in rows.to_dict("records")]
        rows = rows.assign(asked=pandas.Series(asked, rows.index)).explode("asked", ignore_index=True)
        # Where both launch the same blocks, as many as needed (False) come before a number (True).
        rows["is_number"] = rows["asked"] != str(LARGEST_GRID)
        rows["grid_size"] = rows["grid_size"].where(rows["is_number"], LARGEST_GRID)
    names_of = [name for axis in parameters for name in {"grid_size": ["is_number", "asked"]}.get(axis, [axis])]
    rows["choice"] = _numbers(rows[names_of].astype(str).assign(place=rows["place"]), ["place", *names_of])
    return rows.drop_duplicates(["kind", "size", "choice"], keep="last")


def arithmetic_by_row(rows: pandas.DataFrame) -> pandas.Series[str]:
    """Each row's kind of arithmetic; "" where the work names none."""
    return rows["work"].astype("category").map(lambda work: arithmetic_of({"work": work}) or "").astype(object)


def _asked(row: Mapping[Any, Any], kernel: KernelSettings | None, data: StudyData) -> list[str]:
    """The values of the axis grid_size that launch a row's blocks, several where each is cut to what has work.

    [""] where the grid follows from the other axes: it is no choice. Where the study has no such value, the blocks.
    """
    if kernel is None:
        return [""]
    values = kernel.axes.get(GRID_SIZE, data.settings.axes.get(GRID_SIZE, []))
    sides = sides_of(kernel.launches[0].grid) if kernel.launches else [GRID_SIZE]
    point = {axis: value for axis, value in row.items() if not pandas.isna(value)}
    found = []
    for value in values:
        blocks = grid_on_device(value, data.device["multiprocessors"], point.get("block_size", 1))
        grid = [ceil(number(side, {**point, GRID_SIZE: blocks})) for side in sides]
        found += [str(value)] * (prod(grid) == row[GRID_SIZE])
    return found or [str(row[GRID_SIZE])]


def _numbers(rows: pandas.DataFrame, axes: list[str]) -> pandas.Series[int]:
    """The number of each row's values on some axes, in their order."""
    return rows.groupby(axes, dropna=False).ngroup() if axes else pandas.Series(0, rows.index)


def _losses(rows: pandas.DataFrame) -> tuple[Numbers, Numbers, Numbers]:
    """The choices of our rows; how much more each costs than the fastest at each size; and whether that is little.

    The losses have the shape (3, choices, sizes): that of the time, and those of the ends of its interval. They are
    NaN, and not little, where a choice has no time. The fastest's own error, which all share, is left out.
    """
    table = rows.pivot(index="choice", columns="size", values=["time_us", "time_low_us", "time_high_us"])
    times = table.to_numpy(float).reshape(len(table), 3, -1).swapaxes(0, 1)
    fastest = times[:, np.nanargmin(times[0], axis=0), range(times.shape[2])]
    losses = times / fastest[0] - 1
    little = losses[0] <= LITTLE
    for choice, size in np.argwhere(~little & (losses[0] <= MOST) & may_tie(times[1], fastest[2])):
        little[choice, size] = do_tie(Interval(*times[:, choice, size]), Interval(*fastest[:, size]))
    return table.index.to_numpy(), losses, little


def _beside(here: pandas.DataFrame, chosen: Sequence[Mapping[Any, Any]]) -> dict[str, Any]:
    """What Use has of the fastest library at each size, or without one at the last, of the first kernel.

    chosen  a choice's rows by size
    """
    others = here[~here["is_own"]].sort_values("time_us", kind="stable")
    if (last := others[others["size"] == chosen[-1]["size"]]).empty:
        last = others = here[(here["place"] == 0) & (chosen[-1]["place"] > 0)].sort_values("time_us", kind="stable")
    beside = "" if last.empty else str(last["kernel"].iloc[0])
    of_size = others.drop_duplicates("size").set_index("size").to_dict("index")
    pairs = [(of_size.get(row["size"]), time_interval(row)) for row in chosen]
    gains = [
        of and (ratio(time_interval(of), time), THROTTLED in of["flags"].split(), of["kernel"]) for of, time in pairs
    ]
    return {"beside": beside, "gains": tuple(gains)}


def _used(rows: Sequence[Mapping[Any, Any]], parameters: Sequence[str], data: StudyData) -> Configuration:
    """The configuration of a choice's rows, of a row per size, at the last of these."""
    last = as_configuration(rows[-1], parameters, rows[-1]["kernel"] in data.gridded)
    return replace(last, has_fewer_blocks=len({row.get(GRID_SIZE) for row in rows}) > 1)


def _ties(here: pandas.DataFrame, chosen: Mapping[Any, Any]) -> Sequence[Sequence[Mapping[Any, Any]]]:
    """The rows by size of what ties with the chosen configuration at each size, the fastest at the last one first."""
    choice, size, is_own, low, time, high = (here[name].to_numpy() for name in ("choice", "size", "is_own", *INTERVAL))
    is_chosen = choice == chosen["choice"]
    of_chosen = np.flatnonzero(is_chosen)[np.searchsorted(size[is_chosen], size)]  # each row's, of its size
    near = may_tie(low, high[of_chosen]) & may_tie(low[of_chosen], high) & is_own & ~is_chosen

    def do_all_tie(rows: Sequence[int]) -> bool:
        pairs = [[Interval(time[at], low[at], high[at]) for at in (row, of_chosen[row])] for row in rows]
        return len(rows) == is_chosen.sum() and all(do_tie(*pair) and do_tie(*pair[::-1]) for pair in pairs)

    by_choice = grouped(np.flatnonzero(near).tolist(), lambda row: choice[row])
    tied = here.iloc[[rows[-1] for rows in by_choice.values() if do_all_tie(rows)]]
    # One row may stand for several choices.
    others = tied[tied["row"] != chosen["row"]].sort_values(["time_us", "choice"]).drop_duplicates("row")
    return [here.iloc[by_choice[number]].to_dict("records") for number in others["choice"]]


def _least(losses: Numbers, little: Numbers) -> int:
    """The choice to use: of those that do at each size, or else lose at most MOST, the one of the least worst loss.

    Of those whose worst loss ties with that, the one of the least mean.

    losses, little  as of _losses(), at some sizes
    """
    does, worst = little.all(axis=1), 1 + losses.max(axis=2)
    among = np.flatnonzero(does if does.any() else (losses[0] <= MOST).all(axis=1))
    least = worst[:, among[worst[0, among].argmin()]]
    near = among[may_tie(worst[1, among], least[2])]
    ties = [int(choice) for choice in near if do_tie(Interval(*worst[:, choice]), Interval(*least))]
    return min(ties, key=lambda choice: mean(losses[0, choice]))


def _ranges(losses: Numbers, little: Numbers, sizes: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """All sizes, if a configuration loses at most MOST; then the fewest ranges in each of which one does, if several.

    Each range in turn is as long as possible, which gives the fewest. None has parts of two values on the first axis.
    """
    axis = next((axis for axis in sizes[0] if sizes[0][axis] != sizes[-1][axis]), "")
    starts: list[int] = []
    doing = np.zeros(len(little), bool)  # those that do at each size of the latest range, if that may have more
    for of_value in grouped(range(len(sizes)), lambda at: sizes[at].get(axis)).values():
        if (at_all := doing & little[:, of_value].all(axis=1)).any():
            doing = at_all
            continue
        doing = np.zeros(len(little), bool)
        for at in of_value:
            doing = doing & little[:, at]
            if not doing.any():
                starts.append(at)
                doing = little[:, at]
        if starts[-1] != of_value[0]:
            doing = np.zeros(len(little), bool)
    ranges = list(pairwise([*starts, little.shape[1]]))
    if len(ranges) > 1 and (losses[0] <= MOST).all(axis=1).any():
        return [(0, little.shape[1]), *ranges]
    return ranges
