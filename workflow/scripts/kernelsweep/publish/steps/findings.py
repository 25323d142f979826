"""What a study's data say of each step of its story: its time, the counters that moved, and what sources print of it.

steps_page.py puts the words and the code of the kernels beside it: after an edit of these, no data are read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kernelsweep.base.groups import grouped
from kernelsweep.judge.best.find import comparable, find_best, of_reference_kind
from kernelsweep.judge.data.published import SPEEDUP, PublishedNumber, beside_step
from kernelsweep.judge.data.step_metrics import step_metrics, title
from kernelsweep.judge.data.study_data import StudyData, kernel_axes, place_words, size_axes, varied
from kernelsweep.judge.data.words import configuration_words, configured_text, list_texts, point_text, times_text
from kernelsweep.publish.steps.moved import moved_texts
from kernelsweep.publish.tables.formats import four_digits
from kernelsweep.publish.tables.study_table import StoryRow, place_of_table, story_of
from kernelsweep.results import PROOF_FAILED, read_parameters
from kernelsweep.statistics import Interval, ratio, time_interval


def story_data(
    data: StudyData, named: Mapping[str, Sequence[str]], accesses: Mapping[int, Mapping[str, Any]]
) -> dict[str, Any]:
    """What steps_page.py needs besides the kernels' sources, as JSON's types.

    named     by kernel, the kernels that its words name, in their order
    accesses  the pictures of who accesses what, by the place of their step: each its `file` and its `point`
    """
    rows = story_of(data)
    bases = [_base(rows, at, named) for at in range(len(rows))]
    steps, largest = [_step(data, rows, *of) for of in enumerate(bases)], _largest(data, rows, bases)
    for at, access in accesses.items():
        steps[at] |= {"picture": access["file"], "pictured": _pictured(data, rows[at].kernel, access["point"])}
    if largest:
        steps[largest["place"] - 1]["findings"].append(largest.pop("finding"))
    return {
        "title": data.title,
        "place": _place(data),
        "at": place_of_table(data) if data.has_times else "",
        "pictured": bool(accesses),
        "largest": largest,
        "steps": steps,
    }


def _largest(data: StudyData, steps: Sequence[StoryRow], places: Sequence[int | None]) -> dict[str, Any]:
    """The largest gain of a step over the one that it is held against, at any size: its place from 1 on, and sentences.

    The `words` are for the first screen, and the `finding`, with the times, for the step. On axes that the story leaves
    free, each step is at its fastest there. Nothing if none is faster.
    """
    if not data.has_times or data.compares_outputs:
        return {}
    ladder, rows, labels = data.steps, of_reference_kind(data).measurements, [step.label for step in steps]
    bases = {label: labels[of] for label, of in zip(labels, places, strict=True) if of is not None}
    entries, times = [], dict[str, dict[str, Interval]]()
    for at, step in enumerate(steps):
        own = replace(data, measurements=ladder[at].rows(rows) if ladder else rows[rows["kernel"] == step.kernel])
        entries += [replace(best, kernel=step.label) for best in find_best(data.title, own)]
    for best in comparable(entries):
        times.setdefault(place_words(best.point, data.settings), {})[best.kernel] = best.fastest.time
    pairs = [(of, size, *pair) for size, of in times.items() for pair in bases.items() if {*pair} <= {*of}]
    gains = [(ratio(over=of[base], under=of[label]), size, label, base) for of, size, label, base in pairs]
    gain, size, after, before = max(gains, key=lambda one: one[0].value, default=(None, "", "", ""))
    if gain is None or gain.low <= 1:
        return {}
    free = [axis.replace("_", " ") for axis in kernel_axes(data.settings) if ladder and axis not in steps[0].values]
    where, over = f" at {size}" * bool(size), f"{times_text(gain.value)} times as fast as"
    where += f", each at its fastest {list_texts(free, len(free))}".rstrip()
    where += " in its step's grid" * any(steps[labels.index(step)].values.get("grid_size") for step in (before, after))
    values = " → ".join(four_digits(times[size][label].value) for label in (before, after))
    finding = f"Largest step{where}: {values} µs, {over} `{before}`."
    words = f"{after} is {over} {before}{where}".replace(" ×", " with unroll factor ")
    return {"place": labels.index(after) + 1, "words": words, "finding": finding}


def _step(data: StudyData, steps: Sequence[StoryRow], number: int, place: int | None) -> dict[str, Any]:
    """What data say of a step, by the template's names. place  of the step that it is held against"""
    step, base = steps[number], None if place is None else steps[place]
    values: dict[str, Any] = dict.fromkeys(("picture", "pictured", "base", "at"), "")
    values |= {"kernel": step.kernel, "label": step.label, "findings": _published(data, steps, number, place)}
    if place is None or base is None:
        return values
    values["findings"] = [*_gain(data, step, base), *_moved(data, steps, place, number), *values["findings"]]
    if step.kernel == base.kernel:
        on_axes = point_text({axis: value for axis, value in step.values.items() if value is not None})
        return values | {"base": base.label, "at": on_axes}
    return values | {"base": base.kernel}


def _place(data: StudyData) -> str:
    """A sentence on the point of the times and counters; "" where there are neither."""
    numbers = ["times"] * data.has_times + ["counters"] * (not step_metrics(data).empty)
    if data.compares_outputs or not numbers:
        return ""
    fixed = " Each step has a fixed configuration here; the answer has the fastest." if data.steps else ""
    fixed += " ×2: unroll factor 2." * any("×" in step.name for step in data.steps)
    return f"{' and '.join(numbers).capitalize()}: at {place_of_table(data)}.{fixed}"


def _pictured(data: StudyData, kernel: str, point: Mapping[str, Any]) -> str:
    """The size of a picture's point, and its configuration on the axes on which there is a choice."""
    chosen = kernel_axes(data.settings) if data.steps else _own_axes(data, kernel)
    return configured_text({axis: point.get(axis) for axis in [*size_axes(data.settings), *chosen]}, chosen)


def _base(steps: Sequence[StoryRow], number: int, named: Mapping[str, Sequence[str]]) -> int | None:
    """The earlier step that a step is held against: the last of its kernel, or of the one that its words name.

    Where there is none, the step before it.
    """
    kernels = [step.kernel for step in steps[:number]]
    own = steps[number].kernel
    wanted = next((kernel for kernel in (own, *named[own]) if kernel in kernels), None)
    last = max((place for place, kernel in enumerate(kernels) if kernel == wanted), default=number - 1)
    return last if number else None


def _published(data: StudyData, steps: Sequence[StoryRow], number: int, place: int | None) -> list[str]:
    """What each source prints of a step, beside the same of the step that it is held against.

    If the source has nothing of that one, it is beside the last step before it of which the source has something.
    """
    earlier = [] if place is None else [steps[place], *reversed(steps[:number])]
    texts = []
    for origin, numbers in _by_origin(data, steps[number]).items():
        base = next((step for step in earlier if origin in _by_origin(data, step)), None)
        of_base = _by_origin(data, base)[origin] if base else ()
        before = {number.quantity: number.value for number in of_base if not number.over}
        words = "; ".join(_published_words(number, before.get(number.quantity)) for number in numbers)
        after = f" after `{base.label}`" if base and base is not earlier[0] and before else ""
        texts.append(f"Published, {origin}{after}: {words}.")
    return texts


def _by_origin(data: StudyData, step: StoryRow) -> dict[str, list[PublishedNumber]]:
    return grouped(beside_step(data.published, (step.kernel, step.values)), lambda number: number.origin)


def _published_words(number: PublishedNumber, before: str | None) -> str:
    if number.over:
        what = "as fast as" if number.quantity == SPEEDUP else f"the {title(number.quantity)} of"
        return f"{number.value} times {what} `{number.over}`"
    unit = number.unit if number.unit == "%" else f" {number.unit}"
    if before == number.value:
        return f"{title(number.quantity)} {number.value}{unit}, as before"
    return f"{title(number.quantity)} {' → '.join(filter(None, (before, number.value)))}{unit}"


def _own_axes(data: StudyData, kernel: str) -> list[str]:
    """The axes on which a kernel has several values; none on a ladder."""
    rows = data.kernel_rows
    return [] if data.steps else varied(rows[rows["kernel"] == kernel], kernel_axes(data.settings))


def _ratio(step: StoryRow, base: StoryRow) -> Interval | None:
    """How many times as fast a step is as another; None unless both have a time that may be compared."""
    points = [row.point for row in (base, step) if row.point and row.point["status"] == "ok"]
    times = [time_interval(point) for point in points if PROOF_FAILED not in point["flags"].split()]
    return ratio(over=times[0], under=times[1]) if len(times) > 1 else None


def _gain(data: StudyData, step: StoryRow, base: StoryRow) -> list[str]:
    """A step's time beside that of the one that it is held against, where both have one."""
    gain = _ratio(step, base) if data.has_times else None
    if gain is None or base.point is None or step.point is None:
        return []
    before, after = (four_digits(row.point["time_us"]) for row in (base, step) if row.point)
    where = configuration_words({axis: step.point[axis] for axis in _own_axes(data, step.kernel)})
    ends = f"{times_text(gain.low)}–{times_text(gain.high)}"
    # What the steps have in common, but not in value, may be the reason, too.
    common = [axis for axis in _own_axes(data, base.kernel) if axis in _own_axes(data, step.kernel)]
    others = configuration_words({axis: base.point[axis] for axis in common if base.point[axis] != step.point[axis]})
    other = f"`{base.label}`{' at ' * bool(others)}{others}"
    verdict = f"{times_text(gain.value)} times as fast as {other} ({ends})"
    if gain.low <= 1 <= gain.high:
        verdict = f"no difference from {other} beyond the error"
        verdict += f" ({ends} times as fast)" * (ends != "1.000–1.000")
    return [f"Time: {before} → {after} µs{' at ' * bool(where)}{where}, {verdict}."]


def _moved(data: StudyData, steps: Sequence[StoryRow], base: int, number: int) -> list[str]:
    """The counters that changed most between two steps, and the point at which they were counted."""
    text = "; ".join(moved_texts(data, steps, base, number))
    if not text:
        return []
    kernel = steps[number].kernel
    axes, rows = _own_axes(data, kernel), data.metrics.rows[data.metrics.rows["kernel"] == kernel]
    counted = read_parameters(rows["parameters"].iloc[0]) if axes else {}
    where = configuration_words({axis: counted[axis] for axis in axes if axis in counted})
    timed = {axis: (steps[number].point or {}).get(axis) for axis in axes if axis in counted}
    is_timed = where == configuration_words(timed)
    return [f"Moved: {text}." if is_timed else f"Moved, counted at {where} rather than at the fastest: {text}."]
