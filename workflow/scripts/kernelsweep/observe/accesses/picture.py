"""Draw which elements a thread block's warps access, which lanes take part, and what that costs, as SVG.

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

# The warps whose accesses are drawn, at most.
WARPS, BANK_BYTES = DRAWN_BLOCK // LANES, 4
# A loop's steps are drawn once, but others can have any number. Of 1,024 floats, a pixel is a sector.
MOST_ROWS, MOST_LETTERS, MOST_ELEMENTS = 12, 36, 1024

# One colour a warp, each with a contrast of at least 3.5 to white and to a dark page.
COLOURS = ("fill='#1d81ba'", "fill='#c65a00'", "fill='#00805c'", "fill='#b0578d'")
# A cost that the kernel could avoid: less of the moved sectors is needed.
WELL_USED = 0.75
BAD, QUIET, PALE = "font-weight='bold'", "opacity='.75'", "opacity='.25'"
DARK = "@media (prefers-color-scheme: dark) { svg { color: #e3e7eb } path { filter: brightness(1.3) } }"

# In pixels, small enough to stand beside code; NARROW is a phone's page. A row has loads above and stores below. It is
# higher where warps share pixels: each has a band. COST is the longest bar of sectors, or of turns of the banks.
TYPE, STRIP, LANE, PITCH, COST, KEY, GAP, LEFT, NARROW = 12, 128, 1, LANES + 2, 72, 68, 6, 4, 392
LOADS, STORES, APART, BAND, HEAD, NOTE = 9, 5, 5, 4, 38, 16


@dataclass(frozen=True)
class Row:
    """The requests of one step in one array, by warp; a step lies between two synchronisations of the block.

    step   its number; if elements are loaded after stores, or stored again, with the number of the turn: 3.2
    unit   the size of an element in bytes, or of a part of it that lanes access
    first  the first element that is drawn
    drawn  the number of elements that are drawn
    room   and for how many there is room
    size   of the array, in words: `128`, `first 128` of more, `1,024…` if more are accessed, `from 640`
    """

    step: str
    memory: str
    array: str
    warps: list[list[TracedRequest]]
    unit: int = 1
    first: int = 0
    drawn: int = 0
    room: int = MOST_ELEMENTS
    size: str = ""

    def elements(self, warp: int, loads: bool) -> set[int]:
        """The elements that a warp loads, or stores; a vector is several."""
        return {
            element
            for request in self.warps[warp]
            if (request.operation == "load") == loads
            for place in request.places
            if place is not None
            for element in range(place // self.unit, (place + request.size) // self.unit)
        }

    def lanes(self, warp: int) -> set[int]:
        """The lanes of a warp that take part."""
        return {lane for each in self.warps[warp] for lane, place in enumerate(each.places) if place is not None}

    @property
    def requests(self) -> list[TracedRequest]:
        """The requests of all warps."""
        return [each for warp in self.warps for each in warp]

    @cached_property
    def span(self) -> tuple[int, int]:
        """Where its accesses begin and end, in bytes."""
        ends = [(place, place + each.size) for each in self.requests for place in each.places if place is not None]
        return min(ends)[0], max(end for _, end in ends)

    @cached_property
    def bands(self) -> list[tuple[int, bool]]:
        """Of loads and of stores: their height in pixels, and whether each warp has a band, as they share pixels."""
        bands, warps = [], range(len(self.warps))
        for loads, height in ((True, LOADS), (False, STORES)):
            pixels = [{each * STRIP // self.room for each in self.elements(warp, loads)} for warp in warps]
            is_shared = sum(map(len, pixels)) > 1.1 * len(set[int]().union(*pixels))
            bands.append((max(height, BAND * len(warps) * is_shared), is_shared))
        return bands


def draw(name: str, where: str, trace: Trace) -> str:
    """The picture of a step, which readers know by its `name`, at a point in words: `where`."""
    if not (rows := rows_of(trace.warps)):
        return empty(name, f"The first block's first warps access no array at {where}.")
    told = _told_once(rows)
    drawn, warps = _at_one_scale(told[:MOST_ROWS]), range(len(trace.warps))
    label = LEFT + max(_width("step, array"), *(_width(_label(row)) for row in drawn)) + GAP
    lanes = label + STRIP + max(_width("size"), *(_width(row.size) for row in drawn)) + 2 * GAP
    is_idle = any(len(row.lanes(warp)) < LANES for row in drawn for warp in warps)
    right, begins = lanes + (PITCH * len(warps) + GAP) * is_idle, [lanes + PITCH * warp for warp in warps] * is_idle
    costs = list(map(cost, drawn))
    scale = COST / max(moved for _, moved, _ in costs)
    width = right + max(2.3 * KEY, *(max(2, scale * moved) + GAP + 1.04 * _width(words) for words, moved, _ in costs))
    notes = [f"and {len(told) - len(drawn)} more"] if len(told) > len(drawn) else ["and more"] if trace.is_cut else []
    notes += [f"and {len(rows) - len(told)} rows like these in other steps"] * (len(rows) > len(told))
    notes += [] if trace.is_cut else counted(rows)
    *tops, end = accumulate((sum(high for high, _ in row.bands) + 1 + APART for row in drawn), initial=HEAD)
    heads = [(LEFT, "step, array"), (label, "loads above stores"), (label + STRIP + 4, "size")]
    heads += [(lanes, "active lanes")] * is_idle + [(right, "requests × cost")]
    keys = [(label + 34 * warp + 30 * bool(warp), f"{'' if warp else 'warp '}{warp}", COLOURS[warp]) for warp in warps]
    keys += [(right, "needed", QUIET), (right + KEY, "not needed", PALE)]
    parts = [_path(_boxes([(left, 10)], 1, 10), look) + _text(left + 14, 11, key) for left, key, look in keys]
    parts += [_text(left, HEAD - 9, head) for left, head in heads]
    parts += [_row(row, top, label, right, scale, begins) for row, top in zip(drawn, tops, strict=True)]
    parts += [_text(LEFT, end + NOTE * number + LOADS + 2, text, QUIET) for number, text in enumerate(notes)]
    title = f"{name}: the elements that each warp loads and stores, and what its requests cost, at {where}"
    folds = (end, label - 2, *([] if right <= NARROW else [lanes - 2]), right - 2)
    data = f"data-folds='{' '.join(f'{fold:g}' for fold in folds)}'"
    data += f" data-marks='{' '.join(f'mark:{mark}' for mark in _marks(drawn))}'"
    loaded, stored, elements = sectors_of(rows)
    data += f" data-sectors='{loaded + stored} {elements}'" * (not trace.is_cut)
    return _drawing(title, width, end + NOTE * len(notes) + 4, parts, data)


def empty(name: str, reason: str) -> str:
    """A picture that says why there is none."""
    return _drawing(f"{name}: {reason}", 440, NOTE + 4, [_text(LEFT, 11, reason)])


def _marks(rows: Sequence[Row]) -> list[str]:
    """The marks that a page's key explains only where they are."""
    lanes = {len(row.lanes(warp)) for row in rows for warp in range(len(row.warps))}
    texts = {text for row in rows for text in (row.size, cost(row)[0], *{each.operation for each in row.requests})}
    known = ("first", "from", "…", "atomic", "needed", "-way", ".")
    marks = [mark for mark in known if any(mark in text for text in texts)]
    marks += ["turn"] * any("." in row.step for row in rows) + ["idle"] * (lanes != {LANES}) + ["line"] * (0 in lanes)
    return marks + ["band"] * any(is_shared for row in rows for _, is_shared in row.bands)


def _drawing(title: str, width: float, height: float, parts: Sequence[str], data: str = "") -> str:
    """The SVG. `data`: for the page, where its rows end, their names do, and it may fold the rest; and what it has."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' width='{width:g}' "
        f"height='{height:g}' {data} color='#24292f' "
        "fill='currentColor' font-family='DejaVu Sans, Verdana, sans-serif' "
        f"font-size='{TYPE}'><style>{DARK}</style><title>{escape(title)}</title>{''.join(parts)}</svg>\n"
    )


def rows_of(warps: Sequence[Sequence[TracedRequest]]) -> list[Row]:
    """The rows from top to bottom: of a step, loads first, by name. A load after a store begins an array's turn, and so
    does a warp's second store to an element.
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
    numbered = [(row, f".{turn + 1}" * ((step, array) in turned)) for (step, turn, _, array), row in in_order]
    return _at_one_scale([replace(row, step=f"{row.step}{turn}") for row, turn in numbered])


def _told_once(rows: Sequence[Row]) -> list[Row]:
    """The rows without those of steps that are like an earlier one but for where it begins, as in a loop."""
    told: dict[str, list[Row]] = {}
    for step in grouped(rows, lambda row: row.step.partition(".")[0]).values():
        kinds = [(row.memory, row.array, [len(warp) for warp in row.warps if warp]) for row in step]
        places = [(row.span[0], each) for row in step for each in row.requests]
        moved = [[place is not None and place - first for place in each.places] for first, each in places]
        told.setdefault(f"{kinds} {[(each.operation, each.size) for _, each in places]} {moved}", step)
    return [row for step in told.values() for row in step]


def _at_one_scale(rows: Sequence[Row]) -> list[Row]:
    """The rows, those of an array with the same room: a power of two that is at least the number of threads."""
    scaled, of_array = list[Row](), grouped(rows, lambda row: (row.memory, row.array))
    for row in rows:
        every = of_array[row.memory, row.array]
        unit = min(min(each.size, each.unit) for one in every for each in one.requests)
        reached, elements = max(one.span[1] for one in every) // unit, row.requests[0].extent // unit
        room = max(LANES * len(row.warps), 1 << (reached - 1).bit_length())
        room = room if room <= MOST_ELEMENTS else elements if elements <= 4 * MOST_ELEMENTS else MOST_ELEMENTS
        first = row.span[0] // unit // LANES * LANES if reached > room else 0
        drawn, is_cut = max(1, min(room, elements - first)), row.span[1] > (first + room) * unit
        size = f"from {first:,}" if first else f"{'first ' * (drawn < elements and not is_cut)}{drawn:,}{'…' * is_cut}"
        scaled.append(replace(row, unit=unit, first=first, drawn=drawn, room=room, size=size))
    return scaled


def cost(row: Row) -> tuple[str, float, float]:
    """A row's requests and their mean cost in words; its sectors, or turns of the banks; and how many are needed."""
    requests = row.requests
    if row.memory == "shared":
        # Of vectors, the banks serve a part of the warp in a turn.
        turns = sum(1 + request.conflicts / max(request.size / BANK_BYTES, 1) for request in requests)
        ways = turns / len(requests)
        words = f"× {ways:.3g}-way bank conflict" if ways > 1 else "without bank conflict"
        return f"{len(requests):,} {words}", turns, len(requests)
    moved = sum(request.sectors for request in requests)
    needed = sum(ceil(request.size * len({*request.places} - {None}) / SECTOR_BYTES) for request in requests)
    words = f"{len(requests):,} × {moved / len(requests):.3g} sector{'s' * (moved != len(requests))}"
    return words + f", {needed / len(requests):.2g} needed" * (needed < moved), moved, needed


def sectors_of(rows: Sequence[Row]) -> tuple[int, int, int]:
    """The sectors that rows load and store, atomics as stores, and the global elements that they load, each once."""
    rows = [row for row in rows if row.memory == "global"]
    elements = {(row.array, at) for row in rows for warp in range(len(row.warps)) for at in row.elements(warp, True)}
    sectors = [(each.operation == "load", each.sectors) for row in rows for each in row.requests]
    loaded, stored = (sum(number for is_load, number in sectors if is_load == loads) for loads in (True, False))
    return loaded, stored, len(elements)


def counted(rows: Sequence[Row]) -> list[str]:
    """What the drawn warps count in all rows, in words."""
    of_memory = grouped((each for row in rows for each in row.requests), lambda each: each.memory)
    texts = [", ".join(f"{len(every):,} {memory}" for memory, every in sorted(of_memory.items()))]
    loaded, stored, elements = sectors_of(rows)
    texts += [f"loads: {loaded:,} sector{'s' * (loaded != 1)}, {elements:,} elements"] * bool(loaded)
    texts += [f"stores: {stored:,} sector{'s' * (stored != 1)}"] * bool(stored)
    if conflicts := sum(each.conflicts for each in of_memory.get("shared", ())):
        texts += [f"{conflicts:,} bank conflict{'s' * (conflicts != 1)}"]
    return [f"requests of warps: {texts[0]}", *texts[1:]]


def _label(row: Row) -> str:
    array = row.array if row.memory == "global" or "shared" in row.array else f"shared {row.array}"
    label = f"{row.step} {array.removeprefix('dynamic ').removesuffix(' memory')}"
    return label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"


def _row(row: Row, top: float, left: float, right: float, scale_of_costs: float, begins: Sequence[float]) -> str:
    """One row: its array, its elements, which begin at `left`, the lanes of each warp, and, from `right`, its cost."""
    row_height, (text, moved, needed) = sum(high for high, _ in row.bands) + 1, cost(row)
    middle, bar = top + row_height / 2, max(2, scale_of_costs * moved)
    scale, start, boxes, backs = STRIP / row.room, top, ["" for _ in row.warps], ""
    for loads, (height, is_shared) in zip((True, False), row.bands, strict=True):
        band = height / len(boxes) if is_shared else height
        for warp in range(len(boxes)):
            drawn = {element - row.first for element in row.elements(warp, loads)} & {*range(row.drawn)}
            boxes[warp] += _boxes(_spans(drawn, left, scale), start + band * warp * is_shared, band - 0.5 * is_shared)
        start += height + 1
    for warp, begin in enumerate(begins):
        lanes = row.lanes(warp)
        boxes[warp] += _boxes(_spans(lanes, begin, LANE), top, row_height)
        backs += _boxes([(begin, LANES * LANE)], *((top, row_height) if lanes else (middle, 1)))
    parts = [_path(_boxes([(left, scale * row.drawn)], top, row_height), "opacity='.08'"), _path(backs, PALE)]
    parts += [_path(_boxes([(right, bar)], middle - 5, 10), PALE), *map(_path, boxes, COLOURS)]
    parts += [_path(_boxes([(right, bar * needed / moved)], middle - 5, 10), QUIET)]
    parts += [_text(LEFT, middle + 4, _label(row)), _text(left + STRIP + 4, middle + 4, row.size, QUIET)]
    look = BAD if needed < WELL_USED * moved else ""
    return "".join([*parts, _text(right + bar + GAP, middle + 4, text, look)])


def _spans(numbers: Iterable[int], left: float, scale: float) -> list[tuple[float, float]]:
    """Neighbouring numbers together, in pixels: their left end and width, which is enough to be seen."""
    groups = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    wide = [(scale * run[0][1], scale * len(run)) for run in ([*group] for _, group in groups)]
    return [(left + start, width) if width > 1 else (left + int(start), 1) for start, width in wide]


def _boxes(spans: Sequence[tuple[float, float]], top: float, height: float) -> str:
    """Boxes of one height, given by their left end and width, for a path."""
    return "".join(f"M{x:.5g} {top:.5g}h{width:.5g}v{height:.5g}h-{width:.5g}z" for x, width in spans)


def _path(boxes: str, look: str) -> str:
    return f"<path {look} d='{boxes}'/>" if boxes else ""


def _text(x: float, y: float, text: str, look: str = "") -> str:
    return f"<text x='{x:g}' y='{y:g}' {look}>{escape(text)}</text>"


def _width(text: str) -> int:
    """How wide a text is at the most, in pixels."""
    return ceil(sum(4.9 if letter in " .,:-()'fijlrt" else 11.8 if letter in "mwMW…×" else 7.7 for letter in text))
