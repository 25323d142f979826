"""The timed points of the page's studies, in the form in which explorer.js reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from kernelsweep.judge.best.find import do_tie
from kernelsweep.judge.data.words import axis_value, kernel_text, limit_kernel, nearest_limits, size_words
from kernelsweep.publish.axis_places import places_of
from kernelsweep.publish.drawing.palette import kernel_colours, on_page
from kernelsweep.publish.figure_files import (
    FAR_SHARE,
    FASTEST_LIBRARY,
    LARGE_GFLOPS,
    LARGE_RATE,
    PEAK_SHARE,
    QUANTITIES,
)
from kernelsweep.publish.share_chart import are_close
from kernelsweep.publish.swept_axes import title_of
from kernelsweep.results import ALL_POINT_COLUMNS, LIMIT_PREFIX, with_parameters
from kernelsweep.statistics import Interval

Row = Mapping[str, str]

# With more, a page takes too long to open; measurements.csv has them all.
MOST_POINTS = 200_000

# The quantities that are shown, in this order: their columns in measurements.csv, and their labels.
_QUANTITIES = {"peak_fraction": QUANTITIES[PEAK_SHARE]}
_QUANTITIES |= {column: QUANTITIES[column] for column in ("bandwidth_gbs", "gflops", "time_us")}

# At most so many kernels that the answer doesn't name are shown at first.
_MOST_KERNELS = 8


def explorer_data(studies: Mapping[str, Mapping[str, Any]], rows: Iterable[Row]) -> dict[str, Any]:
    """The timed points by study, column by column; studies without any are left out.

    studies  by name: title, kinds and titles of axes, reference, tied axes, limits, colours, kernels in order (names),
             those with a swept grid, and what to use (best_words.use_rows()) where that is known
    rows     of measurements.csv, with intervals as covering() gives them
    """
    timed = [with_parameters(row) for row in rows if row["status"] == "ok" and row["time_us"]]
    found = {name: [point for point in timed if point["study"] == name] for name in studies}
    return {name: _study(studies[name], points) for name, points in found.items() if points}


def before_and_after(
    studies: Mapping[str, Mapping[str, Any]], rows: Iterable[Row], kernels: Sequence[str], before: str = "before"
) -> dict[str, Any]:
    """The points of comparison.csv by study: each kernel, and as it was before as a baseline.

    kernels  as `study/kernel`, those that a reader sees first before others
    before   follows on a kernel's name for the side that is the baseline
    """
    sides, rows = {"after": "{}", "before": f"{{}} {before}"}, list(rows)
    sides_of_studies = {}
    for name, study in studies.items():
        edited = {row["kernel"] for row in rows if row["study"] == name}
        lists = {
            key: [side.format(kernel) for kernel in study[key] if kernel in edited for side in sides.values()]
            for key in ("names", "gridded")
        }
        sides_of_studies[name] = {**study, **lists}
    points = [
        {
            **row,
            "kernel": name.format(row["kernel"]),
            "status": row[f"status_{side}"],
            **dict.fromkeys(("time_us", "time_low_us", "time_high_us"), row[f"time_{side}_us"]),
            "flags": row[f"flags_{side}"],
        }
        for row in rows
        for side, name in sides.items()
    ]
    explored = explorer_data(sides_of_studies, points)
    first: dict[str, Any] = {}
    for name, kernel in (kernel.split("/") for kernel in kernels):
        if name in explored and f"{kernel} {before}" in explored[name]["kernels"]:
            sides_of_kernel = [side.format(kernel) for side in sides.values()]
            first.setdefault(name, explored[name] | {"baseline": sides_of_kernel[1], "usual": sides_of_kernel})
    return first | {name: {"baseline": None} | of_study for name, of_study in explored.items() if name not in first}


def _study(study: Mapping[str, Any], points: Sequence[Row]) -> dict[str, Any]:
    """One study's points.

    kernels        names in the order of the story, then what was measured beside the kernels
    names          these as readers see them
    undefined      kernels of undefined behaviour, which are shown only when asked for
    limits         those that do a part of the work, and the driver's copy and fill
    colours        those of kernels in CSS, as in the figures
    usual          kernels that are shown at first
    libraries      those that were measured, if several
    first          the baseline at first, as in the answer's chart: the library, or the fastest of several at each
                   place; without any, the first of our kernels that has a point at each size of any
    is_close       whether lines show ratios at first, as in that chart
    axes           those with several values: name, title, values as texts, as numbers and as labels, the index of the
                   usual one (-1: the best is taken), whether the axis says how a kernel is built or launched, and what
                   places_of() says of the values
    tied           groups of these axes that vary together
    at             by axis, each point's index among the values; -1: the point has no value there
    kernel, flags  by point: indices into `kernels` and `remarks`
    peak           by point: of which peak its share is
    """
    names = list(dict.fromkeys([*study["names"], *(point["kernel"] for point in points)]))
    remarks = sorted({point["flags"] for point in points})
    axes, at = [], {}
    for axis, kind in study["kinds"].items():
        # A library's rows have 1 in the columns of how a kernel is launched.
        has_value = study["names"] if kind == "kernel" and axis in ALL_POINT_COLUMNS else names
        # A grid that follows from the other axes is no value.
        has_value = study["gridded"] if axis == "grid_size" else has_value
        texts = [point.get(axis, "") if point["kernel"] in has_value else "" for point in points]
        values = _ordered(set(texts) - {""})
        places = {text: number for number, (text, _) in enumerate(values)} | {"": -1}
        if len(values) > 1:
            # A word, such as a precision, that the first kernel has alone makes another problem of the same sizes.
            firsts = {text for text, point in zip(texts, points, strict=True) if point["kernel"] == names[0]}
            is_choice = kind == "kernel" and (len(firsts) > 1 or isinstance(values[0][1], float))
            reference = "" if is_choice else str(study["reference"].get(axis, "")) or min(firsts)
            # Of arguments of their own, kernels share none.
            there = {point["kernel"] for text, point in zip(texts, points, strict=True) if text == reference}
            reference = reference if 2 * len(there) > len(names) else ""
            is_tied = any(axis in group for group in study["tied"])
            standing, on_line = places_of([value for _, value in values], is_tied)
            axes.append(
                {
                    "name": axis,
                    "title": title_of(axis, study["titles"]),
                    "values": [text for text, _ in values],
                    "numbers": [value if isinstance(value, float) else None for _, value in values],
                    "labels": [axis_value(axis, value) for _, value in values],
                    "reference": places.get(reference, -1) if reference else -1,
                    "of_kernel": kind == "kernel",
                    "places": standing,
                    "on_line": on_line,
                }
            )
            at[axis] = [places[text] for text in texts]
    _name_sizes(axes, study["tied"], points)
    problem = [axis for axis in axes if not axis["of_kernel"]]
    sizes = [at[axis["name"]] for axis in problem]
    columns = [column for column in _QUANTITIES if any(point.get(column) for point in points)]
    # A study with arithmetic begins with its rate, as kernels of several types have several peaks. Far from any: times.
    share = max(float(point.get("peak_fraction") or 0) for point in points)
    columns.sort(key=lambda column: column != ("gflops" if share > FAR_SHARE else "time_us"))
    # As in the figures, large rates are in TFLOP/s.
    is_large = any(float(point.get("gflops") or 0) >= LARGE_GFLOPS for point in points)
    labels = _QUANTITIES | ({"gflops": QUANTITIES[LARGE_RATE]} if is_large else {})
    undefined = {point["kernel"] for point in points if "undefined_behaviour" in point["flags"].split()}
    last = {*map(limit_kernel, study["limits"]), *undefined}
    ours = [*study["names"], *(rival["call"].partition("<")[0].strip() for rival in study["rivals"])]
    colours = kernel_colours(ours, last, names, study.get("colours", {}))
    usual = _usual(study, [name for name in names if name not in undefined], points)
    shares: dict[str, dict[tuple[int, ...], float]] = {name: {} for name in names}
    for point, *size in zip(points, *sizes, strict=True):
        of_kernel = shares[point["kernel"]]
        of_kernel[(*size,)] = max(of_kernel.get((*size,), 0), float(point.get("peak_fraction") or 0))
    most = max(map(len, shares.values()))
    libraries = [name for name in names if name not in study["names"] and not name.startswith(LIMIT_PREFIX)]
    ours = [name for name in usual if name in study["names"] and name not in last and len(shares[name]) == most]
    baselines = libraries or [*ours, *filter(shares.__getitem__, names)][:1]
    # As in the answer's chart, sizes at the reference's other values.
    fixed = {number: axis["reference"] for number, axis in enumerate(problem) if study["kinds"][axis["name"]] != "size"}
    shown = [size for size in {*chain(*shares.values())} if all(size[number] == at for number, at in fixed.items())]
    lines = {name: [of_kernel.get(size) for size in shown] for name, of_kernel in shares.items()}
    fastest = [max(filter(None, of), default=None) for of in zip(*map(lines.__getitem__, baselines), strict=True)]
    return {
        "title": study["title"],
        "kernels": names,
        "names": list(map(kernel_text, names)),
        "undefined": sorted(undefined),
        "limits": [*map(limit_kernel, study["limits"])],
        "colours": [*map(on_page, map(colours.__getitem__, names))],
        "usual": usual,
        "libraries": libraries if libraries[1:] else [],
        "first": FASTEST_LIBRARY if libraries[1:] else baselines[0],
        "is_close": columns[0] != "time_us" and are_close(map(lines.__getitem__, usual), fastest),
        "axes": axes,
        "tied": [[axis for axis in group if axis in at] for group in study["tied"]],
        "remarks": remarks,
        "quantities": {column: labels[column] for column in columns},
        "at": at,
        "kernel": [names.index(point["kernel"]) for point in points],
        "flags": [remarks.index(point["flags"]) for point in points],
        "peak": [point.get("peak_of") or "memory" for point in points],
        "low": [float(point["time_low_us"]) for point in points],
        "high": [float(point["time_high_us"]) for point in points],
        "values": {column: [_number(column, point, is_large) for point in points] for column in columns},
    }


def _name_sizes(axes: Sequence[dict[str, Any]], tied: Iterable[Sequence[str]], points: Sequence[Row]) -> None:
    """Label an axis whose values say those of others, in place: 1023 × 1025 × 1021 rather than 1023."""
    for group, axis in ((group, axis) for group in tied for axis in axes if axis["name"] == group[0]):
        sizes = {point[axis["name"]]: {name: float(point[name]) for name in group} for point in points}
        if len(sizes) == len({tuple(point[name] for name in group) for point in points}):
            axis["labels"] = [size_words(sizes[value]) for value in axis["values"]]


def _usual(study: Mapping[str, Any], defined: Sequence[str], points: Sequence[Row]) -> list[str]:
    """The kernels that a reader sees first: what the answer names, the first one, the nearest limits, and all others.

    The others only if they are few, or there is no answer; but each that is as fast as the fastest at the reference.

    defined  all with times, without those of undefined behaviour
    """
    limits = {*map(limit_kernel, study["limits"])}
    place = {axis: str(value) for axis, value in study["reference"].items() if study["kinds"].get(axis) != "kernel"}
    ours = {*defined} & {*study["names"]} - limits
    there = [point for point in points if point["kernel"] in ours and place.items() <= point.items()]
    times = [Interval(*(float(point[f"time{end}_us"]) for end in ("", "_low", "_high"))) for point in there]
    fastest = min(times, key=lambda time: time.value, default=None)
    ties = {point["kernel"] for point, time in zip(there, times, strict=True) if fastest and do_tie(time, fastest)}
    named = {kernel for use in study.get("uses", ()) for kernel in (use["kernel"], use["beside"])}
    named |= {*defined[:1], *map(limit_kernel, nearest_limits(study["limits"]))}
    others = ours - named
    is_all = len(others) <= _MOST_KERNELS or not study.get("uses")
    return [name for name in defined if name in named | (others if is_all else ties)]


def _ordered(texts: Iterable[str]) -> list[tuple[str, float | str]]:
    """Values of an axis in order: as numbers where all are numbers, else as words."""
    try:
        return sorted(((text, float(text)) for text in texts), key=lambda entry: entry[1])
    except ValueError:
        return [(text, text) for text in sorted(texts)]


def _number(column: str, point: Row, is_large: bool) -> float | None:
    text = point.get(column)
    if not text:
        return None
    if column == "peak_fraction":
        return round(100 * float(text), 2)
    factor = 1e-3 if is_large and column == "gflops" else 1
    return float(text if column == "time_us" else f"{factor * float(text):.5g}")
