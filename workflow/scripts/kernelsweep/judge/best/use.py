"""What to use: the configuration that loses least at any size, and the fewest that lose little at each."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from kernelsweep.analysis.places import kernel_axes, place_axes, size_axes
from kernelsweep.analysis.reference import timed, undefined_kernels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.judge.best.find import RATES, Configuration, as_configuration, do_tie
from kernelsweep.results import INTERVAL
from kernelsweep.sweep.settings import StudySettings

# A configuration does for a size where it costs at most so much more than the fastest, or ties with it.
LITTLE = 0.02

# A kernel's configuration as a key: the kernel's place in the story, its name, and its axes' values.
_Choice = tuple[Any, ...]
# By configuration, how much more it costs than the fastest at a size, and whether that is little.
_Losses = Mapping[_Choice, tuple[float, bool]]


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


def find_uses(name: str, data: StudyData, gridded: Collection[str]) -> list[Use]:
    """What to use for each kind of a study's problem; empty without times.

    First the configuration for all sizes, if one has a time at each; then, if that loses more than LITTLE at one,
    the fewest that don't, by size. Kernels of undefined behaviour, limits, and arithmetic that rounds more than the
    first kernel's are left out.

    gridded  the kernels whose grid size is an axis of the sweep
    """
    settings, parameters, sizes = data.settings, kernel_axes(data.settings), size_axes(data.settings)
    kinds = [axis for axis in place_axes(settings) if axis not in sizes]
    left_out = {*undefined_kernels(data.measurements), *settings.limits}
    names = [*data.kernel_names, *settings.rival_names]
    rows = timed(data.measurements, data.device)
    columns = ["kernel", *settings.kinds, *INTERVAL, *RATES, "work"]
    found: dict[tuple[Any, ...], dict[tuple[Any, ...], dict[_Choice, Configuration]]] = {}
    for row in rows.loc[rows["kernel"].isin({*names} - left_out), columns].to_dict("records"):
        kind, size = (tuple(row[axis] for axis in axes) for axes in (kinds, sizes))
        one = as_configuration(row, parameters, row["kernel"] in gridded)
        choice = (names.index(row["kernel"]), row["kernel"], *map(str, one.parameters.items()))
        found.setdefault(kind, {}).setdefault(size, {})[choice] = one
    uses = []
    for kind, by_size in sorted(found.items()):
        # Where only a library has a time, nothing of ours can be used.
        ordered = [size for size in sorted(by_size) if min(by_size[size])[0] < len(data.kernel_names)]
        losses = [_losses(by_size[size], len(data.kernel_names)) for size in ordered]
        for start, end in _ranges(losses):
            choice, lost = _least(losses[start:end])
            last = by_size[ordered[end - 1]]
            beside, gain = _beside(last, choice, len(data.kernel_names))
            uses.append(
                Use(
                    study=name,
                    kernel=choice[1],
                    kind=dict(zip(kinds, kind, strict=True)),
                    sizes=tuple(dict(zip(sizes, size, strict=True)) for size in ordered[start:end]),
                    everywhere=end - start == len(ordered),
                    worst=max(lost),
                    mean=mean(lost),
                    configuration=last[choice],
                    beside=beside,
                    gain=gain,
                )
            )
    return uses


def of_reference(uses: Iterable[Use], name: str, study: StudySettings) -> list[Use]:
    """A study's, of the kind of its reference point."""
    return [
        use
        for use in uses
        if use.study == name and all(study.reference.get(axis, value) == value for axis, value in use.kind.items())
    ]


def _losses(configurations: Mapping[_Choice, Configuration], kernels: int) -> _Losses:
    """The losses at a size, of our configurations with the first kernel's arithmetic.

    kernels  the number of our kernels; libraries follow them
    """
    first = min(configurations, key=lambda choice: (choice[0], configurations[choice].time.value))
    arithmetic = configurations[first].arithmetic
    costs = {
        choice: one.time
        for choice, one in configurations.items()
        if choice[0] < kernels and one.arithmetic == arithmetic
    }
    least = min(costs.values(), key=lambda cost: cost.value)
    lost = {choice: cost.value / least.value - 1 for choice, cost in costs.items()}
    return {choice: (loss, loss <= LITTLE or do_tie(costs[choice], least)) for choice, loss in lost.items()}


def _beside(configurations: Mapping[_Choice, Configuration], chosen: _Choice, kernels: int) -> tuple[str, float | None]:
    """The fastest library with the same arithmetic, or else the first kernel, and how many times as long it takes."""
    one = configurations[chosen]
    libraries = [
        choice for choice, of in configurations.items() if choice[0] >= kernels and of.arithmetic == one.arithmetic
    ]
    others = libraries or [choice for choice in configurations if choice[0] == 0 < chosen[0]]
    if not others:
        return "", None
    other = min(others, key=lambda choice: configurations[choice].time.value)
    return other[1], configurations[other].time.value / one.time.value


def _least(losses: Sequence[_Losses]) -> tuple[_Choice, list[float]]:
    """The configuration with the least worst loss, then mean, of those that do where some do; and its losses."""
    every = set.intersection(*map(set, losses))
    doing = {choice for choice in every if all(size[choice][1] for size in losses)}
    lost = {choice: [size[choice][0] for size in losses] for choice in doing or every}
    best = min(lost, key=lambda choice: (max(lost[choice]), mean(lost[choice]), choice))
    return best, lost[best]


def _ranges(losses: Sequence[_Losses]) -> list[tuple[int, int]]:
    """All sizes, if a configuration has a time at each; then the fewest ranges in each of which one does, if several.

    Each range in turn is as long as possible, which gives the fewest.
    """
    found, start = [], 0
    for end in range(1, len(losses) + 1):
        here = losses[start : end + 1]
        if end == len(losses) or not set.intersection(*({one for one in size if size[one][1]} for size in here)):
            found.append((start, end))
            start = end
    everywhere = [(0, len(losses))] if len(found) > 1 and set.intersection(*map(set, losses)) else []
    return everywhere + found
