"""Configurations and the fastest of all in words. No other module says that something is the fastest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.analysis.words import list_texts, point_text, size_text
from kernelsweep.judge.best.find import Best, Configuration, Fastest, peak_share

BLOCK_AND_UNROLL = ("block_size", "unroll", "grid_size")

NONE = "–"

# Further ties are counted but not named: at small sizes nearly every configuration takes the time of a launch.
MOST_TIES = 8


def ties_text(best: Best, most: int = MOST_TIES) -> str:
    """The closest ties of a kernel's best configuration by name, and the number of the others."""
    if not best.ties:
        return NONE
    more = len(best.ties) - most
    return _names(best.ties[:most], best.fastest) + (f"; {more} more" if more > 0 else "")


def _is_block_and_unroll(parameters: Mapping[str, Any]) -> bool:
    return {"block_size", "unroll"} <= set(parameters) <= set(BLOCK_AND_UNROLL)


def _names(configurations: Sequence[Configuration], beside: Configuration | None = None) -> str:
    """Configurations in short.

    Block sizes and unroll factors are grouped by unroll factor and grid: `128, 256 × 8; 512 × 4`. Configurations on
    other axes are named by the values that differ from the configuration `beside` them: `tile=2; tile=4 rows=8`.
    """
    groups: dict[tuple[int | None, int], list[int]] = {}
    for one in (configuration.parameters for configuration in configurations):
        if not _is_block_and_unroll(one):
            return "; ".join(_values_text(other, beside) for other in configurations)
        groups.setdefault((one.get("grid_size"), one["unroll"]), []).append(one["block_size"])
    names = []
    for (grid, unroll), blocks in groups.items():
        name = f"{', '.join(str(block) for block in sorted(blocks))} × {unroll}"
        names.append(name if grid is None else f"{name} in {grid:,} blocks")
    return "; ".join(names)


def configuration_text(one: Configuration) -> str:
    """A configuration by its block size and unroll factor, `256 × 8 in 1,056 blocks`, or by its parameters."""
    return _names([one])


def _values_text(one: Configuration, beside: Configuration | None) -> str:
    """A configuration by its parameters that differ from the one `beside` it: `tile=2 rows=8`."""
    known = {} if beside is None else beside.parameters
    return point_text({axis: value for axis, value in one.parameters.items() if known.get(axis) != value}) or NONE


def place_text(point: Mapping[str, Any]) -> str:
    """The point at which configurations are compared: `array size 2²⁴, int32 sum, cold cache`; `n=1024, cold cache`."""
    own = {axis: value for axis, value in point.items() if axis not in ("array_size", "dtype", "operation", "cache")}
    texts = [f"array size {size_text(point['array_size'])}"] if "array_size" in point else []
    texts += [" ".join(str(point[axis]) for axis in ("dtype", "operation") if axis in point), point_text(own)]
    return ", ".join(filter(None, [*texts, f"{point['cache']} cache"]))


def rate_text(one: Configuration, device: Mapping[str, Any]) -> str:
    """A configuration's throughput: `4,153 GB/s, 86.3% of the memory's peak`, or `53,687 GFLOP/s`; "" if unknown."""
    share = peak_share(one, device)
    texts = [f"{one.gflops:,.0f} GFLOP/s"] if one.gflops else []
    texts += [f"{one.bandwidth_gbs:,.0f} GB/s"] if one.bandwidth_gbs else []
    return ", ".join([*texts, *([f"{share:.1%} of the memory's peak"] if share is not None and not one.gflops else [])])


def objective_text(one: Configuration) -> str:
    """What a study's configurations are compared by: `energy_mj 3.21 mJ`; "" where that is the time."""
    of = one.objective
    return f"{of.name} {of.value:,.4g} {of.unit}".strip() if of else ""


def fastest_text(fastest: Fastest, device: Mapping[str, Any]) -> str:
    """A sentence on the fastest of all kernels at a point, and those that can't be told apart from it."""
    chosen = fastest.configuration
    configurations = "configuration" if fastest.compared == 1 else "configurations"
    facts = [
        f"{fastest.kernel} {configuration_text(chosen)}",
        objective_text(chosen),
        f"{chosen.time_us:,.0f} µs" if chosen.time_us >= 1000 else f"{chosen.time_us:.4g} µs",
        rate_text(chosen, device),
    ]
    best, as_good = ("best", "as good") if chosen.objective else ("fastest", "as fast")
    text = (
        f"At {place_text(fastest.point)}, {best} of {fastest.compared:,} {configurations} with a time:"
        f" {', '.join(filter(None, facts))}"
    )
    return f"{text}; {as_good}: {also_text(fastest)}." if fastest.ties else f"{text}."


def also_text(fastest: Fastest, most: int = 3) -> str:
    """The kernels and configurations as fast as the fastest: the closest by name, and the number of the others."""
    chosen = fastest.configuration
    ties = [
        _names([one], chosen) if kernel == fastest.kernel else f"{kernel} {configuration_text(one)}"
        for kernel, one in fastest.ties
    ]
    return list_texts(ties, most) if ties else NONE
