"""Find the best configuration of each kernel at each size, those that tie with it, and the fewest to use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import mean
from typing import Any, NamedTuple

import pandas

from kernelsweep.judge.data.reference import at_place, timed, undefined_kernels
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_axes, shown_place, size_axes
from kernelsweep.results import ALL_POINT_COLUMNS, INTERVAL, arithmetic_of
from kernelsweep.statistics import Interval, ratio, time_interval
from kernelsweep.study.settings import StudySettings

RATES = ("bandwidth_gbs", "gflops", "peak_fraction")


@dataclass(frozen=True)
class Configuration:
    """A launch configuration with its time.

    parameters             the values of the axes that say how a kernel is built or launched; grid_size is None if the
                           kernel's launch plan sets it
    bandwidth_gbs, gflops  None where the problem's work names no bytes, or no flops
    peak_fraction          the share of the device's nearest peak, of memory or of arithmetic; None where none is known
    arithmetic             the kind of arithmetic of the problem's work; None where that names none
    """

    parameters: Mapping[str, Any]
    time_us: float
    time_low_us: float
    time_high_us: float
    bandwidth_gbs: float | None
    gflops: float | None
    peak_fraction: float | None
    arithmetic: str | None = None

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


def find_best(name: str, data: StudyData) -> list[Best]:
    """The best configurations of a study's kernels, in the kernels' order, then by point. Empty without times."""
    kinds = data.settings.kinds
    columns = [axis for axis in ALL_POINT_COLUMNS if axis in kinds]
    axes = [*columns, *(axis for axis in kinds if axis not in columns)]
    parameters = [axis for axis in axes if kinds[axis] == "kernel"]
    others = [axis for axis in axes if axis not in parameters]
    rows, undefined = timed(data.kernel_rows, data.device), undefined_kernels(data.measurements)
    # The other columns make the order of equal times reproducible.
    ordered = rows[["kernel", *axes, *INTERVAL, *RATES, "work"]].sort_values(["time_us", *parameters])
    places: dict[tuple[Any, ...], list[Mapping[Any, Any]]] = {}
    for row in ordered.to_dict("records"):
        places.setdefault((data.kernel_names.index(row["kernel"]), *(row[axis] for axis in others)), []).append(row)
    entries = []
    for place in sorted(places):
        first, *slower = places[place]
        kernel = first["kernel"]
        ties = [row for row in slower if is_tie(row, first)]
        fastest, *tied = (as_configuration(row, parameters, kernel in data.gridded) for row in (first, *ties))
        point, count = dict(zip(others, place[1:], strict=True)), len(places[place])
        entries.append(Best(name, kernel, kernel in undefined, point, count, fastest, tuple(tied)))
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
    by_size: dict[tuple[Any, ...], list[Best]] = {}
    for best in entries:
        if best.kernel not in study.limits and at_reference_kind(best.point, study):
            by_size.setdefault(tuple(best.point[axis] for axis in size_axes(study)), []).append(best)
    allowed = (comparable(of_size) for _, of_size in sorted(by_size.items()))
    return [min(of_size, key=lambda best: best.fastest.time.value) for of_size in allowed if of_size]


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
    rates = {column: None if pandas.isna(row[column]) else float(row[column]) for column in RATES}
    return Configuration(values, time.value, time.low, time.high, **rates, arithmetic=arithmetic_of(row))


# A configuration does for a size where it costs at most this much more than the fastest, or ties with it ...
LITTLE = 0.02
# ... and is recommended for no size at which it costs more than this.
MOST = 0.10


class _Choice(NamedTuple):
    """A kernel's configuration as a key, in the order of the story.

    place   the kernel's in the story; libraries follow our kernels
    values  of its axes, as texts
    """

    place: int
    kernel: str
    values: tuple[str, ...]


# By configuration, how much more it costs than the fastest at a size, and whether that is little.
_Losses = Mapping[_Choice, tuple[float, bool]]


@dataclass(frozen=True)
class Tie:
    """Another configuration that takes as long, as measured at the largest of the sizes."""

    kernel: str
    configuration: Configuration


@dataclass(frozen=True)
class Use:
    """A configuration to use for sizes of a study's problem.

    kind           the values of the axes that are neither sizes nor a configuration's, as dtype and cache
    sizes          the sizes, the smallest first
    everywhere     whether these are all sizes
    worst, mean    how much more it costs than the fastest of all kernels' configurations: 0.014 for 1.4%
    configuration  as measured at the largest of the sizes
    beside         there, the fastest library with the same arithmetic, or without any the study's first kernel
    gain           its time over this configuration's; None where it has none, and of the first kernel itself
    ties           those that tie with it at each of the sizes, the fastest first
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
    gain: float | None = None
    ties: tuple[Tie, ...] = ()


def find_uses(name: str, data: StudyData) -> list[Use]:
    """What to use for each kind of a study's problem; empty without times. Nothing else decides that.

    First the configuration that loses least at its worst size, if that is at most MOST; then, if it loses more than
    LITTLE somewhere, the fewest that don't, by size. Kernels of undefined behaviour, limits, and arithmetic that rounds
    more than the first kernel's are left out.
    """
    settings, parameters, sizes = data.settings, kernel_axes(data.settings), size_axes(data.settings)
    kinds = [axis for axis in place_axes(settings) if axis not in sizes]
    left_out = {*undefined_kernels(data.measurements), *settings.limits}
    names = [*data.kernel_names, *settings.rival_names]
    rows = timed(data.measurements, data.device)
    columns = ["kernel", *settings.kinds, *INTERVAL, *RATES, "work"]
    configurations: dict[tuple[Any, ...], dict[tuple[Any, ...], dict[_Choice, Configuration]]] = {}
    for row in rows.loc[rows["kernel"].isin({*names} - left_out), columns].to_dict("records"):
        kind, size = (tuple(row[axis] for axis in axes) for axes in (kinds, sizes))
        configuration = as_configuration(row, parameters, row["kernel"] in data.gridded)
        choice = _Choice(names.index(row["kernel"]), row["kernel"], tuple(map(str, configuration.parameters.items())))
        configurations.setdefault(kind, {}).setdefault(size, {})[choice] = configuration
    uses = []
    for kind, by_size in sorted(configurations.items()):
        # Where only a library has a time, nothing of ours can be used.
        ordered = [size for size in sorted(by_size) if min(by_size[size]).place < len(data.kernel_names)]
        losses = [_losses(by_size[size], len(data.kernel_names)) for size in ordered]
        for start, end in _ranges(losses):
            choice, lost = _least(losses[start:end])
            last = by_size[ordered[end - 1]]
            beside, gain = _beside(last, choice, len(data.kernel_names))
            uses.append(
                Use(
                    study=name,
                    kernel=choice.kernel,
                    kind=dict(zip(kinds, kind, strict=True)),
                    sizes=tuple(dict(zip(sizes, size, strict=True)) for size in ordered[start:end]),
                    everywhere=end - start == len(ordered),
                    worst=max(lost),
                    mean=mean(lost),
                    configuration=last[choice],
                    beside=beside,
                    gain=gain,
                    ties=_ties(choice, [by_size[size] for size in ordered[start:end]], losses[end - 1]),
                )
            )
    return uses


def of_reference(uses: Iterable[Use], name: str, study: StudySettings) -> list[Use]:
    """A study's, of the kind of its reference point."""
    return [use for use in uses if use.study == name and at_reference_kind(use.kind, study)]


def _losses(configurations: Mapping[_Choice, Configuration], kernels: int) -> _Losses:
    """The losses at a size, of our configurations with the first kernel's arithmetic.

    kernels  the number of our kernels; libraries follow them
    """
    first = min(configurations, key=lambda choice: (choice.place, configurations[choice].time.value))
    arithmetic = configurations[first].arithmetic
    costs = {
        choice: one.time
        for choice, one in configurations.items()
        if choice.place < kernels and one.arithmetic == arithmetic
    }
    least = min(costs.values(), key=lambda cost: cost.value)
    lost = {choice: cost.value / least.value - 1 for choice, cost in costs.items()}
    return {
        choice: (loss, loss <= LITTLE or (loss <= MOST and do_tie(costs[choice], least)))
        for choice, loss in lost.items()
    }


def _beside(configurations: Mapping[_Choice, Configuration], chosen: _Choice, kernels: int) -> tuple[str, float | None]:
    """The fastest library with the same arithmetic, or else the first kernel, and how many times as long it takes."""
    own = configurations[chosen]
    alike = [choice for choice, other in configurations.items() if other.arithmetic == own.arithmetic]
    libraries = [choice for choice in alike if choice.place >= kernels]
    others = libraries or [choice for choice in configurations if choice.place == 0 < chosen.place]
    if not others:
        return "", None
    other = min(others, key=lambda choice: configurations[choice].time.value)
    return other.kernel, configurations[other].time.value / own.time.value


def _ties(chosen: _Choice, sizes: Sequence[Mapping[_Choice, Configuration]], allowed: _Losses) -> tuple[Tie, ...]:
    """The other allowed configurations that tie with the chosen one at each size, the fastest at the last one first."""

    def is_tied(choice: _Choice) -> bool:
        both = [(size[choice].time, size[chosen].time) for size in sizes if choice in size]
        return len(both) == len(sizes) and all(do_tie(one, other) and do_tie(other, one) for one, other in both)

    tied = [choice for choice in allowed if choice != chosen and is_tied(choice)]
    tied.sort(key=lambda choice: (sizes[-1][choice].time_us, choice))
    return tuple(Tie(choice.kernel, sizes[-1][choice]) for choice in tied)


def _least(losses: Sequence[_Losses]) -> tuple[_Choice, list[float]]:
    """The configuration with the least worst loss, then mean, of those that do where some do; and its losses."""
    every = set.intersection(*map(set, losses))
    doing = {choice for choice in every if all(size[choice][1] for size in losses)}
    lost = {choice: [size[choice][0] for size in losses] for choice in doing or every}
    best = min(lost, key=lambda choice: (max(lost[choice]), mean(lost[choice]), choice))
    return best, lost[best]


def _ranges(losses: Sequence[_Losses]) -> list[tuple[int, int]]:
    """All sizes, if a configuration loses at most MOST; then the fewest ranges in each of which one does, if several.

    Each range in turn is as long as possible, which gives the fewest.
    """
    starts: list[int] = []
    doing: set[_Choice] = set()  # those that do at each size of the latest range
    for number, size in enumerate(losses):
        here = {choice for choice, (_, is_little) in size.items() if is_little}
        doing &= here
        if not doing:
            starts.append(number)
            doing = here
    ranges = list(pairwise([*starts, len(losses)]))
    if len(ranges) > 1 and set.intersection(*map(set, losses)) and max(_least(losses)[1]) <= MOST:
        return [(0, len(losses)), *ranges]
    return ranges
