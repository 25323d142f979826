"""Draw which elements a thread block's warps access, and which lanes take part, step by step, as SVG.

SVG is written here, not by matplotlib, which takes a hundred times as long; and text and lines take the colours of the
page around them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from itertools import accumulate, chain, groupby
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
DARK = "@media (prefers-color-scheme: dark) { svg { color: #e3e7eb } path { filter: brightness(1.3) } }"

# In pixels, small enough for two pictures beside each other on the page. A row has loads above and stores below. It is
# higher where warps share elements: each has a band.
TYPE, LETTER, STRIP, LANE, GAP = 12, 7.3, 168, 1.25, 6
ROW, LOADS, STORES, BAND, HEAD, NOTE = 20, 9, 5, 4, 20, 16
APART, PITCH, LEFT = ROW - LOADS - 1 - STORES, LANES * LANE + GAP, 4.0
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
        """Whether several warps load, or store, the same element, or most pixels would have elements of several."""
        of_warps = [self.elements(warp, loads) for warp in range(len(self.warps))]
        scale = min(1, STRIP / self.extent)
        pixels = Counter(pixel for elements in of_warps for pixel in {int(scale * element) for element in elements})
        is_mixed = 2 * sum(count > 1 for count in pixels.values()) > len(pixels)
        return is_mixed or len({*chain(*of_warps)}) < sum(map(len, of_warps))

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
        """The size of an element in bytes, or of a part of it that lanes access."""
        return min(min(each.size, each.unit) for each in self.requests)

    @property
    def extent(self) -> int:
        """The number of elements that the row has room for: a power of two, at least the number of threads."""
        reached = max(place + each.size for each in self.requests for place in each.places if place is not None)
        return max(LANES * len(self.warps), 1 << (reached // self.unit - 1).bit_length())

    @property
    def spanned(self) -> tuple[int, str]:
        """How many elements the array has, or the row has room for, and in words: `128`, or `first 128` of more."""
        elements, room = self.requests[0].extent // self.unit, self.extent
        return (room, f"first {room:,}") if room < elements else (elements, f"{elements:,}")


def draw(name: str, where: str, trace: Trace) -> str:
    """The picture.

    name   of the step, for readers
    where  the point in words
    """
    if not (rows := rows_of(trace.warps)):
        return empty(name, f"The first block's first warps access no array at {where}.")
    drawn, warps = rows[:MOST_ROWS], len(trace.warps)
    label = LETTER * max(LEAST_LETTERS, *(min(len(_label(row)), MOST_LETTERS) for row in drawn)) + LEFT
    right = label + STRIP + LETTER * max(len("elements"), *(len(row.spanned[1]) for row in drawn)) + 2 * GAP
    width = right + PITCH * warps + LETTER * max(len("used of sectors"), *(len(cost(row)[0]) for row in drawn))
    more = [f"and {len(rows) - len(drawn)} more"] if len(rows) > len(drawn) else ["and more"] if trace.is_cut else []
    turns = [row.step for row in drawn if row.step.endswith(".2")]
    notes = [] if trace.is_cut else counted(rows)
    notes += [f"{turn}: after the stores of {turn[:-1]}1, same step" for turn in turns[:1]]
    *tops, end = accumulate((row.height + APART for row in drawn), initial=HEAD)
    parts = [_head(warps, label, right), *(_row(row, top, label, right) for row, top in zip(drawn, tops, strict=True))]
    parts += [_text(LEFT, end + LOADS + 2, text) for text in more]
    # Below the elements, where a narrow page shows it once.
    parts += [_text(label, end + NOTE * number + LOADS + 2, text, "opacity='.75'") for number, text in enumerate(notes)]
    title = f"{name}: the elements that each warp loads and stores, and the lanes that do, at {where}"
    return _drawing(title, width, end + NOTE * max(len(more), len(notes)) + 4, parts, (label, right))


def empty(name: str, reason: str) -> str:
    """A picture that says why there is none."""
    return _drawing(f"{name}: {reason}", 440, HEAD, [_text(LEFT, 11, reason)])


def _drawing(title: str, width: float, height: float, parts: Sequence[str], folds: tuple[float, ...] = ()) -> str:
    """The SVG. A narrow page may fold it where the rows' names end, and where the lanes begin: `folds`."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}' "
        f"height='{height:g}' data-folds='{' '.join(f'{fold:g}' for fold in folds)}' color='#24292f' "
        "fill='currentColor' font-family='DejaVu Sans, Verdana, sans-serif' "
        f"font-size='12'><style>{DARK}</style><title>{escape(title)}</title>{''.join(parts)}</svg>\n"
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
    asked = sum(request.size * len(set(request.places) - {None}) for request in row.requests)
    used = asked / (SECTOR_BYTES * sum(request.sectors for request in row.requests))
    return f"{three_digits(100 * used)}%", used < WELL_USED and asked >= SECTOR_BYTES * len(row.requests)


def counted(rows: Sequence[Row]) -> list[str]:
    """What the drawn warps count in all rows: "accesses: 71 global, 33 shared", "191 sectors for 128 elements", ...

    The elements are those that they load from global memory, each once.
    """
    of_memory = grouped((each for row in rows for each in row.requests), lambda each: each.memory)
    texts = [f"accesses: {', '.join(f'{len(every):,} {memory}' for memory, every in sorted(of_memory.items()))}"]
    global_rows = [(row, warp) for row in rows if row.memory == "global" for warp in range(len(row.warps))]
    loaded = {(row.array, element) for row, warp in global_rows for element in row.elements(warp, loads=True)}
    if moved := sum(each.sectors for each in of_memory.get("global", ())):
        texts += [f"{moved:,} sectors" + f" for {len(loaded):,} elements" * bool(loaded)]
    if conflicts := sum(each.conflicts for each in of_memory.get("shared", ())):
        texts += [f"{conflicts:,} bank conflict{'s' * (conflicts != 1)}"]
    return texts


def _head(warps: int, label: float, right: float) -> str:
    heads = [(LEFT, "step, array"), (label, "loads above stores"), (label + STRIP + 4, "elements")]
    heads += [(right + PITCH * warp, f"warp {warp}") for warp in range(warps)]
    heads += [(right + PITCH * warps, "used of sectors")]
    lines = [_boxes([(right + PITCH * warp, LANES * LANE)], 14, 2) for warp in range(warps)]
    return "".join(_text(left, 11, text) for left, text in heads) + _coloured(lines)


def _label(row: Row) -> str:
    array = row.array if row.memory == "global" or "shared" in row.array else f"shared {row.array}"
    return f"{row.step} {array.removeprefix('dynamic ')}"


def _row(row: Row, top: float, left: float, right: float) -> str:
    """One row: its array, its elements, which begin at `left`, the lanes of each warp, from `right`, its cost."""
    middle, scale = top + row.height / 2 + 0.35 * TYPE, STRIP / row.extent
    label, warps, (elements, number) = _label(row), range(len(row.warps)), row.spanned
    parts = [
        _text(LEFT, middle, label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"),
        _path(_boxes([(left, scale * elements)], top, row.height), "opacity='.08'"),
        _text(left + STRIP + 4, middle, number, "opacity='.75'"),
    ]
    if row.memory == "shared" and row.extent <= MOST_BANK_LINES * BANKS:
        lines = [(left + scale * start, 0.6) for start in range(BANKS, elements, BANKS)]
        parts.append(_path(_boxes(lines, top, row.height), "opacity='.4'"))
    boxes = ["" for _ in warps]
    for loads, start, height in zip((True, False), (top, top + row.heights[0] + 1), row.heights, strict=True):
        is_shared = row.are_shared(loads)
        band = height / len(warps) if is_shared else height
        for warp in warps:
            spans = _spans(row.elements(warp, loads), left, scale)
            boxes[warp] += _boxes(spans, start + band * warp * is_shared, band - 0.5 * is_shared)
    backs, lanes, begins = "", [row.lanes(warp) for warp in warps], [right + PITCH * warp for warp in warps]
    for warp in warps:
        boxes[warp] += _boxes(_spans(lanes[warp], begins[warp], LANE), top, row.height)
        high = (top, row.height) if lanes[warp] else (top + row.height / 2, 1)
        backs += _boxes([(begins[warp], LANES * LANE)], *high)
    text, is_bad = cost(row)
    parts += [_path(backs, "opacity='.25'"), _coloured(boxes)]
    return "".join([*parts, _text(right + PITCH * len(warps), middle, text, BAD if is_bad else "")])


def _spans(numbers: Iterable[int], left: float, scale: float) -> list[tuple[float, float]]:
    """Neighbouring numbers together, in pixels: their left end and width, which is enough to be seen."""
    groups = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in group] for _, group in groups]
    return [(left + scale * run[0], max(scale * len(run), 1)) for run in runs]


def _boxes(spans: Sequence[tuple[float, float]], top: float, height: float) -> str:
    """Boxes of one height, given by their left end and width, for a path."""
    return "".join(f"M{x:.5g} {top:.5g}h{width:.5g}v{height:.5g}h-{width:.5g}z" for x, width in spans)


def _coloured(boxes: Sequence[str]) -> str:
    """The boxes of each warp, in its colour."""
    return "".join(_path(each, f"fill='{COLOURS[warp % len(COLOURS)]}'") for warp, each in enumerate(boxes))


def _path(boxes: str, look: str) -> str:
    return f"<path {look} d='{boxes}'/>" if boxes else ""


def _text(x: float, y: float, text: str, look: str = "") -> str:
    return f"<text x='{x:g}' y='{y:g}' {look}>{escape(text)}</text>"
