"""A figure of a block's memory accesses, step by step: one warp's lanes against addresses or banks, and all warps'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from kernelsweep.drawing import style
from kernelsweep.drawing.layout import TWO_COLUMNS, Frame, empty_figure, legend_above, new_figure
from kernelsweep.observe.counting.quantities import SECTOR_BYTES
from kernelsweep.problems.lanes import LANES

BANKS = 32
BANK_BYTES = 4

ROW_IN = 1.3
# The heights of a row's two parts: the first warp's accesses, and the lanes of all warps that make any.
PARTS = (3, 1.1)
# The distance between the steps of a row, in lanes.
GAP = 6
DOT_PT2 = 2.2
DOT_OF_A_STORE = 2 * DOT_PT2
# A lane of the map: it accesses memory; it is idle in a warp that does; its whole warp is idle.
ACTIVE_COLOUR, WASTED_COLOUR, IDLE_COLOUR = style.BLUE, "#f6c9a8", style.PALE_GREY
# The used fraction of a step's sectors from which on it counts as good; a tree's last steps cannot reach it.
WELL_USED = 0.995
SHARED_COLOUR = "#fbe9df"

Request = Mapping[str, Any]


@style.styled
def draw(title: str, traces: Sequence[Mapping[str, Any]]) -> Figure:
    """A row of steps for each kernel: the addresses that each lane of one warp accesses between two synchronisations,
    and below them which lanes of the block's warps access any.

    traces  a mapping for each kernel with `kernel`, its name, and `traces`, each with `point`, the axis values, and
            `warps`, for each warp of a block the fields of run.TracedRequest in order. The last trace is drawn; a
            kernel without any is left out. A warp that is idle in a step stays so, so steps have the same numbers in
            all warps.

    Global memory is drawn by address and shared memory by bank, which shows scattered sectors and bank conflicts.
    Each step's cost is written above it.
    """
    shown = [(trace["kernel"], trace["traces"][-1]) for trace in traces if trace["traces"]]
    message = (
        "A block's first warp, its 32 lanes from left to right in each step; below it the lanes of all its warps. "
    )
    message += "Lanes at neighbouring elements share sectors"
    has_shared = any(request["memory"] == "shared" for _, trace in shown for request in trace["warps"][0])
    message += (
        " of 32 bytes; in shared memory, lanes at one height want one bank, and wait for each other."
        if has_shared
        else " of 32 bytes."
    )
    frame = Frame(TWO_COLUMNS, title, message, _caption(shown))
    if not shown:
        return empty_figure(frame, "No kernel of this study has a block that can be drawn.")
    figure = new_figure(frame, ROW_IN * len(shown), with_legend=1)
    most = max(len(_strips(trace["warps"][0])) for _, trace in shown)
    rows = figure.subplots(2 * len(shown), squeeze=False, height_ratios=len(shown) * PARTS)[:, 0]
    for number, (kernel, trace) in enumerate(shown):
        _draw_row(rows[2 * number], kernel, trace, most)
        _draw_map(rows[2 * number + 1], trace["warps"], most)
    legend_above(
        figure,
        [
            Line2D([], [], ls="", marker="o", ms=2.5, color=style.BLUE, label="load"),
            Line2D([], [], ls="", marker="s", ms=3.2, mfc="none", mew=0.6, color=style.BLACK, label="store"),
            Patch(color=ACTIVE_COLOUR, label="active lane"),
            Patch(color=WASTED_COLOUR, label="idle in an active warp"),
            Patch(color=IDLE_COLOUR, label="idle"),
            *([Patch(color=SHARED_COLOUR, label="shared memory, by bank")] if has_shared else []),
        ],
    )
    return figure


def _strips(requests: Sequence[Request]) -> list[list[Request]]:
    """The requests of each step and memory, in order; a step is the time between two synchronisations."""
    strips: dict[tuple[int, str], list[Request]] = {}
    for request in requests:
        strips.setdefault((request["step"], request["memory"]), []).append(request)
    return list(strips.values())


def _draw_row(axes: Axes, kernel: str, trace: Mapping[str, Any], most: int) -> None:
    """Draw one kernel's steps from left to right."""
    strips = _strips(trace["warps"][0])
    element = max(request["size"] for request in trace["warps"][0])
    top = (
        max(
            (
                place
                for strip in strips
                for request in strip
                if request["memory"] == "global"
                for place in request["places"]
                if place is not None
            ),
            default=0,
        )
        + element
    )
    for index, strip in enumerate(strips):
        left = index * (LANES + GAP)
        _draw_strip(axes, strip, left, top)
    axes.set_xlim(-GAP, most * (LANES + GAP))
    axes.set_ylim(-0.06, 1.5)
    unroll = trace["point"].get("unroll", 1)
    axes.set_title(kernel + (f", unroll {unroll}" if unroll > 1 else ""), loc="left", weight="bold", pad=1.5)
    axes.set_yticks([0, 1], ["0", f"{top // element:,}"])
    has_shared = any(strip[0]["memory"] == "shared" for strip in strips)
    axes.set_ylabel("element\nor bank" if has_shared else "element")
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _draw_map(axes: Axes, warps: Sequence[Sequence[Request]], most: int) -> None:
    """Draw the lanes of each warp, a line a warp, under the steps of the first warp."""
    for index, strip in enumerate(_strips(warps[0])):
        step, memory = strip[0]["step"], strip[0]["memory"]
        active = [
            _active([each for each in warp if (each["step"], each["memory"]) == (step, memory)]) for warp in warps
        ]
        colours = [
            [to_rgb(ACTIVE_COLOUR if lane else WASTED_COLOUR if any(lanes) else IDLE_COLOUR) for lane in lanes]
            for lanes in active
        ]
        left = index * (LANES + GAP) - 0.5
        axes.imshow(colours, extent=(left, left + LANES, len(warps), 0), aspect="auto", interpolation="none")
    axes.set_xlim(-GAP, most * (LANES + GAP))
    axes.set_ylim(len(warps), 0)
    axes.set_yticks([0.5, len(warps) - 0.5], ["0", str(len(warps) - 1)])
    axes.set_ylabel("warp")
    axes.set_xticks([])
    axes.spines["bottom"].set_visible(False)


def _active(requests: Sequence[Request]) -> list[bool]:
    """Whether each lane of a warp makes any of the requests."""
    return [any(request["places"][lane] is not None for request in requests) for lane in range(LANES)]


def _draw_strip(axes: Axes, strip: Sequence[Request], left: float, top: float) -> None:
    """Draw one step in one memory, with its cost above it."""
    shared = strip[0]["memory"] == "shared"
    axes.add_patch(
        Rectangle(
            (left - 0.5, 0), LANES, 1, color=SHARED_COLOUR if shared else "white", ec=style.GRID_GREY, lw=0.4, zorder=0
        )
    )
    for lane in range(LANES):
        if all(request["places"][lane] is None for request in strip):
            axes.add_patch(Rectangle((left + lane - 0.5, 0), 1, 1, color=style.PALE_GREY, lw=0, zorder=1))
    for request in strip:
        places = [(lane, place) for lane, place in enumerate(request["places"]) if place is not None]
        heights = [_height(place, request, top) for _, place in places]
        lanes = [left + lane for lane, _ in places]
        if request["operation"] == "load":
            axes.scatter(lanes, heights, s=DOT_PT2, c=style.BLUE, lw=0, zorder=3)
        else:
            axes.scatter(lanes, heights, s=DOT_OF_A_STORE, marker="s", fc="none", ec=style.BLACK, lw=0.35, zorder=2)
    text, is_bad = _cost(strip)
    colour = style.VERMILLION if is_bad else style.GREY
    axes.text(left + LANES / 2, 1.05, text, ha="center", va="bottom", color=colour)


def _height(place: int, request: Request, top: float) -> float:
    """The height of a place, between 0 and 1: by address, or by bank in shared memory."""
    if request["memory"] == "shared":
        return (place // BANK_BYTES % BANKS + 0.5) / BANKS
    return float((place + request["size"] / 2) / top)


def _cost(strip: Sequence[Request]) -> tuple[str, bool]:
    """A step's cost in words, the used part of its sectors or the bank conflicts, and whether it is avoidable."""
    if strip[0]["memory"] == "shared":
        conflicts = sum(request["conflicts"] for request in strip)
        return f"+{conflicts}" if conflicts else "", conflicts > 0
    sectors = sum(request["sectors"] for request in strip)
    asked = sum(request["size"] * sum(place is not None for place in request["places"]) for request in strip)
    used = asked / (SECTOR_BYTES * sectors)
    return f"{100 * used:.3g}%", used < WELL_USED


def _caption(shown: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    points = [trace["point"] for _, trace in shown]
    block = f" Block size {points[0]['block_size']}, {points[0]['dtype']}." if points else ""
    return (
        "Counted on the emulator: block 0. A step ends where the warp synchronises. Above it: in global "
        "memory, the part of the sectors' bytes that lanes asked for; in shared memory, drawn by bank from 0 at the "
        f"bottom to 31, the bank conflicts.{block}"
    )
