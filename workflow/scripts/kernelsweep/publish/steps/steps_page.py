"""steps.md: for each step of a study's story, its words, time, counters that moved, and changed code."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from kernelsweep.analysis.places import kernel_axes, shown_place, varied
from kernelsweep.analysis.step_metrics import LEAST_SHARE, step_metrics, title
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import place_text, point_text, reference_text
from kernelsweep.code_hash import cxx_code
from kernelsweep.intervals import Interval, ratio, time_interval
from kernelsweep.publish.tables.formats import four_digits
from kernelsweep.publish.tables.study_table import story_of
from kernelsweep.results import PROOF_FAILED, read_parameters
from kernelsweep.sweep.kernels.source import story

# A counter moved if it changed by this factor; the counters with the largest changes are named.
_LEAST_CHANGE, _MOST_COUNTERS = 1.1, 3
# The time itself, which Nsight Compute takes at its own clocks: the sweep's is shown.
_NOT_SHOWN = "duration"
# The steps that are not folded.
_SHOWN = 3
# What the pictures of accesses show.
_KEY = (
    " In the pictures, a row is a step between two synchronisations: on the left the elements that each warp loads and,"
    " below them, stores; on the right the lanes that take part. Grey: not accessed, idle."
)
# Unchanged lines around a change.
_CONTEXT = 2
# Code in backticks, which Markdown leaves alone; and what it would take for a mark elsewhere.
_CODE, _MARKS = re.compile(r"(`[^`]*`)"), re.compile(r"([\\*\[\]<]|(?<!\w)_|_(?!\w))")


@dataclass(frozen=True)
class KernelWords:
    """A kernel's leading comment as paragraphs, and its code without comments."""

    name: str
    paragraphs: Sequence[str]
    code: Sequence[str]

    def base(self, earlier: Sequence[str]) -> str | None:
        """The earlier kernel that its words name first, as in "as `unrolled`, but ..."; None without one."""
        named = re.findall(r"`(\w+)`", " ".join(self.paragraphs))
        return next((name for name in named if name in earlier), None)

    def difference(self, base: KernelWords) -> list[str]:
        """The lines of a unified diff from another kernel's code, without file names; the kernels' names are alike."""
        theirs = [re.sub(rf"\b{base.name}\b", self.name, line) for line in base.code]
        lines = difflib.unified_diff(theirs, self.code, n=_CONTEXT, lineterm="")
        return [re.sub(r"^@@.*@@$", "@@", line) for line in list(lines)[2:]]


def read_words(name: str, text: str) -> KernelWords:
    """The words and the code of a kernel's source."""
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n\s*\n", story(text))]
    pairs = zip(text.splitlines(), cxx_code(text, keep_leading=False).splitlines(), strict=True)
    # A line that is a comment goes; one that separates code stays.
    code = [line.rstrip() for written, line in pairs if line.strip() or not written.strip()]
    first = next((number for number, line in enumerate(code) if line), 0)
    return KernelWords(name, [paragraph for paragraph in paragraphs if paragraph], code[first:])


@dataclass(frozen=True)
class _Step:
    """One step of the story.

    values      those that tell it from other steps of its kernel
    timed_at    the configuration that was timed, by the axes on which the kernel has several values; "" on a ladder
    counted_at  the configuration whose counters these are, in the same way
    metrics     by name, without those that are unknown
    """

    kernel: str
    label: str
    values: str
    timed_at: str
    counted_at: str
    time: Interval | None
    metrics: Mapping[str, float]


def steps_text(data: StudyData, sources: Mapping[str, str], accesses: Mapping[int, str]) -> str:
    """The page.

    sources   the text of each kernel's file, by its name
    accesses  the files with the pictures of who accesses what, by the place of their step
    """
    words = {name: read_words(name, text) for name, text in sources.items()}
    where = reference_text(data.settings) if data.steps else place_text(shown_place(data))
    found, told = step_metrics(data), "Times and counters" if data.has_times else "Counts"
    steps = _steps(data, found)
    lines = [f"## {data.title}: why", "", f"{told}: at {where}.{_KEY if accesses else ''}", ""]
    for number, step in enumerate(steps):
        if number == _SHOWN and len(steps) > _SHOWN + 1:
            lines += [f"<details><summary>{len(steps) - _SHOWN} more steps</summary>", ""]
        base = _base(steps, number, words)
        lines += [f"### {number + 1}. `{step.label}`", ""]
        if step.kernel not in {earlier.kernel for earlier in steps[:number]}:
            lines += [f"{_markdown(paragraph)}\n" for paragraph in words[step.kernel].paragraphs]
        findings = [f"- {text}" for text in _findings(steps, step, base, _units(found, data))]
        lines += [*findings, ""] if findings else []
        if picture := accesses.get(number):
            lines += [f"![Who accesses what in {step.label}]({picture})", ""]
        if base is not None and step.kernel == base.kernel:
            lines += [f"The source of `{base.label}`, with {step.values}.", ""]
        elif base is not None:
            lines += [f"```diff {base.kernel}", *words[step.kernel].difference(words[base.kernel]), "```", ""]
    return "\n".join([*lines, *(["</details>", ""] if len(steps) > _SHOWN + 1 else [])])


def _steps(data: StudyData, found: pandas.DataFrame) -> list[_Step]:
    steps = []
    for number, one in enumerate(story_of(data)):
        of_kernel = data.kernel_rows[data.kernel_rows["kernel"] == one.kernel]
        axes = [] if data.steps else varied(of_kernel, kernel_axes(data.settings))
        point = one.point if one.point is not None and _is_timed(one.point, data) else None
        rows = data.metrics.rows[data.metrics.rows["kernel"] == one.kernel]
        counted = {} if data.steps or rows.empty else read_parameters(rows["parameters"].iloc[0])
        known = found[(found["step"] == number) & found["value"].notna()]
        metrics = {str(name): float(value) for name, value in zip(known["metric"], known["value"], strict=True)}
        steps.append(
            _Step(
                kernel=one.kernel,
                label=one.label,
                values=point_text({axis: value for axis, value in one.values.items() if value is not None}),
                timed_at=point_text({axis: point[axis] for axis in axes}) if point else "",
                counted_at=" ".join(f"{axis}={counted[axis]}" for axis in axes if axis in counted),
                time=time_interval(point) if point else None,
                metrics=metrics,
            )
        )
    return steps


def _is_timed(point: Mapping[str, Any], data: StudyData) -> bool:
    return data.has_times and point["status"] == "ok" and PROOF_FAILED not in point["flags"].split()


def _units(found: pandas.DataFrame, data: StudyData) -> dict[str, str]:
    """The units of the metrics that the story may name: the study's, or else all."""
    units = {str(metric): str(unit) for metric, unit in zip(found["metric"], found["unit"], strict=True)}
    named = [name for name in data.settings.metrics if name in units] or [*units]
    return {name: units[name] for name in named if name != _NOT_SHOWN}


def _markdown(paragraph: str) -> str:
    """A comment as Markdown, in which only backticks mean anything: `2 * a * b` has no emphasis."""
    parts = _CODE.split(paragraph)
    return "".join(part if number % 2 else _MARKS.sub(r"\\\1", part) for number, part in enumerate(parts))


def _base(steps: Sequence[_Step], number: int, words: Mapping[str, KernelWords]) -> _Step | None:
    """The earlier step that a step is held against: the last of its kernel, or of the one that its words name.

    Where there is none, the step before it.
    """
    if number == 0:
        return None
    kernels = [step.kernel for step in steps[:number]]
    named = words[steps[number].kernel].base(kernels)
    wanted = steps[number].kernel if steps[number].kernel in kernels else named
    return steps[max((place for place, kernel in enumerate(kernels) if kernel == wanted), default=number - 1)]


def _findings(steps: Sequence[_Step], step: _Step, base: _Step | None, units: Mapping[str, str]) -> list[str]:
    """Sentences on a step's time and counters."""
    texts = []
    if step.time and base and base.time:
        gain = ratio(over=base.time, under=step.time)
        texts.append(
            f"Time: {four_digits(base.time.value)} → {four_digits(step.time.value)} µs{_at(step.timed_at)},"
            f" {gain.value:.2f} times as fast as `{base.label}` ({gain.low:.2f}–{gain.high:.2f})."
        )
    if base and (moved := _moved(steps, step, base, units)):
        texts.append(f"Moved{_at(step.counted_at)}: {'; '.join(moved)}.")
    return texts


def _at(configuration: str) -> str:
    return f" at {configuration}" if configuration else ""


def _moved(steps: Sequence[_Step], step: _Step, base: _Step, units: Mapping[str, str]) -> list[str]:
    """The counters that changed most between two steps, the largest change first."""
    changes = []
    for name, unit in units.items():
        largest = max((one.metrics[name] for one in steps if name in one.metrics), default=0.0)
        if name not in base.metrics or name not in step.metrics or not largest:
            continue
        before, after = (max(one.metrics[name] / largest, LEAST_SHARE) for one in (base, step))
        change = abs(math.log(after / before))
        if change >= math.log(_LEAST_CHANGE):
            # What is counted stands in the title.
            symbol = unit if unit == "%" else f" {unit}" if unit[0].isupper() else ""
            values = " → ".join(
                f"{one.metrics[name]:,.{0 if one.metrics[name] >= 100 else 2}f}" for one in (base, step)
            )
            changes.append((change, f"{title(name)} {values}{symbol}"))
    return [text for _, text in sorted(changes, key=lambda change: -change[0])[:_MOST_COUNTERS]]
