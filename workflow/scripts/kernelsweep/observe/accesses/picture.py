"""Draw which elements a thread block's warps access, and which lanes take part, step by step, as SVG.

SVG is written here, not by matplotlib, which takes a hundred times as long; and text and lines take the colours of the
page around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import accumulate, groupby
from math import ceil

from kernelsweep.base.groups import grouped
from kernelsweep.device.emulator import LANES, SECTOR_BYTES, TracedRequest
from kernelsweep.observe.chosen_points import DRAWN_BLOCK
from kernelsweep.observe.counting.run import Trace
from kernelsweep.statistics import three_digits

# Lines between the rounds of the banks, up to this number.
BANKS, BANK_BYTES, MOST_BANK_LINES = 32, 4, 8
# The warps whose accesses are drawn, at most.
WARPS = DRAWN_BLOCK // LANES
# A loop over tiles has any number of steps.
MOST_ROWS = 12

# One colour a warp, each with a contrast of at least 3.5 to white and to a dark page.
COLOURS = ("#1d81ba", "#c65a00", "#00805c", "#b0578d")
# A cost that the kernel could avoid: sectors used less than this by requests with enough elements to fill them.
WELL_USED = 0.75
BAD = "font-weight='bold'"

# In pixels, small enough for two pictures beside each other on the page. A row has loads above and stores below. It is
# higher where warps share elements: each has a band.
TYPE, LETTER, STRIP, EXTENT, LANE, GAP = 12, 7.3, 192, 46, 1.25, 6
ROW, LOADS, STORES, BAND, HEAD = 20, 9, 5, 4, 18
APART = ROW - LOADS - 1 - STORES
LEFT = 4.0
# Those of a row's name: at least the head's, and beyond the most it is cut.
LEAST_LETTERS, MOST_LETTERS = 11, 36


@dataclass(frozen=True)
class Row:
    """The requests of one step in one array, by warp; a step lies between two synchronisations of the block.

    step  its number; if elements are loaded after stores, or stored again, with the number of the turn: 3.2
    """

    step: str
    memory: str
    array: str
    warps: list[list[TracedRequest]]

    def elements(self, warp: int, loads: bool) -> set[int]:
        """The elements that a warp loads, or stores; a vector is several."""
        unit = self.unit
        return {
            element
            for request in self.warps[warp]
            if (request.operation == "load") == loads
            for place in request.places
            if place is not None
            for element in range(place // unit, (place + request.size) // unit)
        }

    def lanes(self, warp: int) -> set[int]:
        """The lanes of a warp that take part."""
        return {lane for each in self.warps[warp] for lane, place in enumerate(each.places) if place is not None}

    @property
    def requests(self) -> list[TracedRequest]:
        """The requests of all warps."""
        return [each for warp in self.warps for each in warp]

    def are_shared(self, loads: bool) -> bool:
        """Whether several warps load, or store, the same element."""
        elements = [self.elements(warp, loads) for warp in range(len(self.warps))]
        return len(set().union(*elements)) < sum(map(len, elements))

    @cached_property
    def heights(self) -> list[int]:
        """Of its loads and of its stores, in pixels."""
        bands, least = BAND * len(self.warps), {True: LOADS, False: STORES}
        return [max(height, bands * self.are_shared(is_load)) for is_load, height in least.items()]

    @property
    def height(self) -> int:
        """Of both, in pixels."""
        return sum(self.heights) + 1

    @property
    def unit(self) -> int:
        """The size of an element in bytes."""
        return min(each.size for each in self.requests)

    @property
    def extent(self) -> int:
        """The number of elements that the row spans: a power of two, at least the number of threads."""
        reached = max(place + each.size for each in self.requests for place in each.places if place is not None)
        return max(LANES * len(self.warps), 1 << (reached // self.unit - 1).bit_length())


def draw(name: str, where: str, trace: Trace) -> str:
    """The picture.

    name   of the step, for readers
    where  the point in words
    """
    if not (rows := rows_of(trace.warps)):
        return empty(name, f"The first block's first warps access no array at {where}.")
    drawn, warps = rows[:MOST_ROWS], len(trace.warps)
    label = LETTER * max(LEAST_LETTERS, *(min(len(_label(row)), MOST_LETTERS) for row in drawn)) + LEFT
    costs = ["used of sectors", *(cost(row)[0] for row in drawn)]
    width = _warp_left(warps, label) + LETTER * max(map(len, costs))
    more = [f"and {len(rows) - len(drawn)} more"] if len(rows) > len(drawn) else ["and more"] if trace.is_cut else []
    turns = [row.step for row in drawn if row.step.endswith(".2")]
    notes = [] if trace.is_cut else [counted(rows)]
    notes += [f"{turn}: after the stores of {turn[:-1]}1, in the same step" for turn in turns[:1]]
    *tops, end = accumulate((row.height + APART for row in drawn), initial=HEAD)
    parts = [_head(warps, label)]
    parts += [_row(row, top, label) for row, top in zip(drawn, tops, strict=True)]
    parts += [_text(LEFT, end + LOADS + 2, text) for text in more]
    # Below the elements, where a narrow page shows it once.
    parts += [_text(label, end + ROW * number + LOADS + 2, text, "opacity='.75'") for number, text in enumerate(notes)]
    title = f"{name}: the elements that each warp loads and stores, and the lanes that do, at {where}"
    return _drawing(title, width, end + ROW * max(len(more), len(notes)) + 4, parts, (label, _warp_left(0, label)))


def empty(name: str, reason: str) -> str:
    """A picture that says why there is none."""
    return _drawing(f"{name}: {reason}", 440, HEAD, [_text(LEFT, 11, reason)])


def _drawing(title: str, width: float, height: float, parts: Sequence[str], folds: tuple[float, ...] = ()) -> str:
    """The SVG. A narrow page may fold it where the rows' names end, and where the lanes begin: `folds`."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}' "
        f"height='{height:g}' data-folds='{' '.join(f'{fold:g}' for fold in folds)}' color='#24292f' "
        "fill='currentColor' font-family='DejaVu Sans, Verdana, sans-serif' "
        f"font-size='12'><style>@media (prefers-color-scheme: dark) {{ svg {{ color: #e3e7eb }} }}</style>"
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>\n"
    )


def rows_of(warps: Sequence[Sequence[TracedRequest]]) -> list[Row]:
    """The rows from top to bottom: of a step, loads first, by name. A load after a store begins a turn, and so
    does a warp's second store to an element.

    An array's turns have their order.
    """
    moments = sorted({request.moment for warp in warps for request in warp})
    rows: dict[tuple[int, int, str, str], Row] = {}
    for number, warp in enumerate(warps):
        for moment, requests in groupby(warp, key=lambda request: request.moment):
            turns: dict[str, tuple[int, set[int | None]]] = {}
            for request in requests:
                turn, stored = turns.get(request.array, (0, set()))
                is_load, places = request.operation == "load", {*request.places} - {None}
                if stored if is_load else request.operation == "store" and stored & places:
                    turn, stored = turn + 1, set()
                turns[request.array] = (turn, stored if is_load else stored | places)
                step = moments.index(moment)
                row = Row(str(step + 1), request.memory, request.array, [[] for _ in warps])
                rows.setdefault((step, turn, request.memory, request.array), row).warps[number].append(request)
    turned = {(step, array) for step, turn, _, array in rows if turn}
    loaded = {key for key, row in rows.items() for each in row.requests if each.operation == "load"}
    last = {key: key not in loaded and (key[0], key[3]) not in turned for key in rows}
    in_order = sorted(rows.items(), key=lambda item: (item[0][0], last[item[0]], item[0][1], item[0][3]))
    return [
        replace(row, step=f"{row.step}.{turn + 1}") if (step, array) in turned else row
        for (step, turn, _, array), row in in_order
    ]


def cost(row: Row) -> tuple[str, bool]:
    """What a row costs, in words, and whether another order of accesses would cost less."""
    if row.memory == "shared":
        # Of vectors, a part of the warp is served at once.
        ways = max(1 + ceil(request.conflicts / max(request.size / BANK_BYTES, 1)) for request in row.requests)
        return f"{ways}-way bank conflict" if ways > 1 else "", ways > 1
    sectors = sum(request.sectors for request in row.requests)
    asked = sum(request.size * len(set(request.places) - {None}) for request in row.requests)
    used = asked / (SECTOR_BYTES * sectors)
    return f"{three_digits(100 * used)}%", used < WELL_USED and asked >= SECTOR_BYTES * len(row.requests)


def counted(rows: Sequence[Row]) -> str:
    """What the drawn warps count in all rows: "accesses: 68 global in 182 sectors, 33 shared, 15 bank conflicts"."""
    of_memory = grouped((each for row in rows for each in row.requests), lambda each: each.memory)
    texts = {memory: f"{len(every):,} {memory}" for memory, every in sorted(of_memory.items())}
    if moved := sum(each.sectors for each in of_memory.get("global", ())):
        texts["global"] += f" in {moved:,} sectors"
    if conflicts := sum(each.conflicts for each in of_memory.get("shared", ())):
        texts["shared"] += f", {conflicts:,} bank conflict{'s' * (conflicts != 1)}"
    return f"accesses: {', '.join(texts.values())}"


def _head(warps: int, label: float) -> str:
    names = [f"warp {warp}" for warp in range(warps)] + ["used of sectors"]
    heads = [_text(_warp_left(place, label), 11, name) for place, name in enumerate(names)]
    return _text(LEFT, 11, "step, array") + _text(label, 11, "elements: loads above stores") + "".join(heads)


def _label(row: Row) -> str:
    array = row.array if row.memory == "global" or "shared" in row.array else f"shared {row.array}"
    return f"{row.step} {array.removeprefix('dynamic ')}"


def _warp_left(warp: int, label: float) -> float:
    return label + STRIP + EXTENT + warp * (LANES * LANE + GAP)


def _row(row: Row, top: float, left: float) -> str:
    """One row: its array, its elements, which begin at `left`, the lanes of each warp, its cost."""
    extent, middle, label, warps = row.extent, top + row.height / 2 + 0.35 * TYPE, _label(row), range(len(row.warps))
    scale = STRIP / extent
    parts = [
        _text(LEFT, middle, label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"),
        _path(_boxes([(left, STRIP)], top, row.height), "opacity='.08'"),
        _text(left + STRIP + 4, middle, f"{extent:,}", "opacity='.75'"),
    ]
    if row.memory == "shared" and extent <= MOST_BANK_LINES * BANKS:
        lines = [(left + scale * start, 0.6) for start in range(BANKS, extent, BANKS)]
        parts.append(_path(_boxes(lines, top, row.height), "opacity='.4'"))
    boxes = ["" for _ in warps]
    for loads, start, height in zip((True, False), (top, top + row.heights[0] + 1), row.heights, strict=True):
        is_shared = row.are_shared(loads)
        band = height / len(warps) if is_shared else height
        for warp in warps:
            spans = _spans(_runs(row.elements(warp, loads)), left, scale)
            boxes[warp] += _boxes(spans, start + band * warp * is_shared, band - 0.5 * is_shared)
    backs, lanes, begins = "", [row.lanes(warp) for warp in warps], [_warp_left(warp, left) for warp in warps]
    for warp in warps:
        boxes[warp] += _boxes(_spans(_runs(lanes[warp]), begins[warp], LANE), top, row.height)
        high = (top, row.height) if lanes[warp] else (top + row.height / 2, 1)
        backs += _boxes([(begins[warp], LANES * LANE)], *high)
    parts.append(_path(backs, "opacity='.25'"))
    parts += [_path(boxes[warp], f"fill='{COLOURS[warp % len(COLOURS)]}'") for warp in warps]
    text, is_bad = cost(row)
    parts.append(_text(_warp_left(len(row.warps), left), middle, text, BAD if is_bad else ""))
    return "".join(parts)


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Neighbouring numbers together: their first, and how many."""
    groups = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    found = [[number for _, number in group] for _, group in groups]
    return [(run[0], len(run)) for run in found]


def _spans(runs: Sequence[tuple[int, int]], left: float, scale: float) -> list[tuple[float, float]]:
    """Runs in pixels, each wide enough to be seen, and apart from the next where there is room."""
    apart = 0.4 if scale > 1 else 0.0
    return [(left + scale * start, max(scale * count - apart, 0.7)) for start, count in runs]


def _boxes(spans: Sequence[tuple[float, float]], top: float, height: float) -> str:
    """Boxes of one height, given by their left end and width, for a path."""
    down = _number(height)
    return "".join(f"M{_number(x)} {_number(top)}h{_number(width)}v{down}h-{_number(width)}z" for x, width in spans)


def _path(boxes: str, look: str) -> str:
    return f"<path {look} d='{boxes}'/>" if boxes else ""


def _number(value: float) -> str:
    return f"{round(value, 2):g}"


def _text(x: float, y: float, text: str, look: str = "") -> str:
    return f"<text x='{x:g}' y='{y:g}' {look}>{escape(text)}</text>"
