"""Configurations and the fastest of all in words. No other module says that something is the fastest."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.analysis.places import place_words
from kernelsweep.analysis.words import list_texts, point_text
from kernelsweep.judge.best.find import Best, Configuration, Fastest
from kernelsweep.judge.best.use import Use
from kernelsweep.sweep.settings import StudySettings

NONE = "–"

# Further ties are counted but not named: at small sizes nearly every configuration takes the time of a launch.
MOST_TIES = 8


def ties_text(best: Best, most: int = MOST_TIES) -> str:
    """The closest ties of a kernel's best configuration by name, and the number of the others."""
    names = [configuration_text(tie, best.fastest) for tie in best.ties[:most]]
    more = len(best.ties) - most
    return "; ".join([*names, *([f"{more} more"] if more > 0 else [])]) or NONE


def configuration_text(one: Configuration, beside: Configuration | None = None) -> str:
    """A configuration in short: `256 × 8 in 1,056 blocks`, or on a study's own axes `tile=2 rows=8`.

    Of own axes, those are named whose values differ from the configuration `beside` it.
    """
    values, known = one.parameters, beside.parameters if beside else {}
    if {"block_size", "unroll"} <= set(values) <= {"block_size", "unroll", "grid_size"}:
        grid = values.get("grid_size")
        return f"{values['block_size']} × {values['unroll']}" + ("" if grid is None else f" in {grid:,} blocks")
    return point_text({axis: value for axis, value in values.items() if known.get(axis) != value}) or NONE


def of_peak(one: Configuration) -> str:
    """The share of the nearest peak: `85%`; or where none is known the throughput, `4,108 GB/s`; "" without either."""
    if one.peak_fraction:
        return f"{one.peak_fraction:.1%}"
    rate = one.gflops or one.bandwidth_gbs
    return f"{rate:,.0f} {'GFLOP/s' if one.gflops else 'GB/s'}" if rate else ""


def beside_text(uses: Sequence[Use]) -> str:
    """How many times as fast as what stands beside it: `9.6× neighbored`, by size `1.02–1.39× cub`; "" without any."""
    gains = sorted(use.gain for use in uses[len(uses) > 1 and uses[0].everywhere :] if use.gain)
    ends = dict.fromkeys(f"{gain:.{1 if gain >= 2 else 2}f}" for gain in (gains[0], gains[-1])) if gains else {}
    return f"{'–'.join(ends)}× {uses[-1].beside}" if gains else ""


def sizes_text(use: Use, study: StudySettings) -> str:
    """The sizes for which a configuration is to be used: `all`, `2¹⁶`, `2¹⁶–2²²`."""
    if use.everywhere:
        return "all"
    ends = dict.fromkeys(place_words(size, study) for size in (use.sizes[0], use.sizes[-1]))
    return "–".join(ends)


def also_text(fastest: Fastest) -> str:
    """The kernels and configurations as fast: of a kernel that beats all others; else their number."""
    chosen = fastest.configuration
    if fastest.beats_all:
        return list_texts([configuration_text(one, chosen) for _, one in fastest.ties]) if fastest.ties else NONE
    every = [(fastest.kernel, chosen), *fastest.ties]
    names = list_texts([f"{kernel} {configuration_text(one)}" for kernel, one in every])
    return f'<abbr title="{names}">{len(every)}, of {len({kernel for kernel, _ in every})} kernels</abbr>'


def use_lines(uses: Sequence[Use], study: StudySettings) -> list[str]:
    """What to use, as Markdown: the configuration for every size, and where that loses more than a little, others."""
    lines = []
    for use in uses:
        count = len(use.sizes)
        where = "" if count == 1 else f" at all {count} sizes" if use.everywhere else f" at {count} sizes"
        loss = f"at most {use.worst:.1%} from the fastest{where}" if use.worst else f"the fastest{where}"
        loss += f", {use.mean:.1%} on average" if 0 < use.mean < use.worst else ""
        of_sizes = "" if use.everywhere else f" for {sizes_text(use, study)}"
        lines.append(f"- Use **`{use.kernel}` {configuration_text(use.configuration)}**{of_sizes}: {loss}.")
    return lines
