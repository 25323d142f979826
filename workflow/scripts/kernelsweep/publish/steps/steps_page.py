"""steps.md: for each step of a study's story, its words, time, counters that moved, advice, and changed code."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from kernelsweep.analysis.step_metrics import title
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.intervals import ratio
from kernelsweep.publish.steps.advice import advice
from kernelsweep.publish.steps.kernel_words import KernelWords, read_words
from kernelsweep.publish.steps.told_steps import Story, ToldStep, story_of

# A counter moved if it changed by this factor; the counters with the largest changes are named.
_LEAST_CHANGE, _MOST_COUNTERS = 1.1, 3
_TIME_DIGITS = 4
# A counter of 0 counts as this share of its largest value in the story.
_NOTHING = 0.01
# Code in backticks, which Markdown leaves alone; and what it would take for a mark elsewhere.
_CODE, _MARKS = re.compile(r"(`[^`]*`)"), re.compile(r"([\\*\[\]<]|(?<!\w)_|_(?!\w))")


def steps_text(data: StudyData, sources: Mapping[str, str], accesses: Mapping[int, str]) -> str:
    """The page.

    sources   the text of each kernel's file, by its name
    accesses  the files with the pictures of who accesses what, by the place of their step
    """
    words = {name: read_words(name, text) for name, text in sources.items()}
    story = story_of(data)
    lines = [f"## {data.title}: why", "", *([story.where, ""] if story.where else [])]
    for number, step in enumerate(story.steps):
        base = _base(story.steps, number, words)
        lines += [f"### {number + 1}. `{step.label}`", ""]
        if step.kernel not in {earlier.kernel for earlier in story.steps[:number]}:
            lines += [f"{_markdown(paragraph)}\n" for paragraph in words[step.kernel].paragraphs]
        found = [f"- {text}" for text in _findings(story, step, base)]
        lines += [*found, ""] if found else []
        if picture := accesses.get(number):
            lines += [f"![Who accesses what in {step.label}]({picture})", ""]
        lines += _difference(step, base, words)
    return "\n".join(lines)


def _markdown(paragraph: str) -> str:
    """A comment as Markdown, in which only backticks mean anything: `2 * a * b` has no emphasis."""
    parts = _CODE.split(paragraph)
    return "".join(part if number % 2 else _MARKS.sub(r"\\\1", part) for number, part in enumerate(parts))


def _base(steps: Sequence[ToldStep], number: int, words: Mapping[str, KernelWords]) -> ToldStep | None:
    """The earlier step that a step is held against: the last of its kernel, or of the one that its words name.

    Where there is none, the step before it.
    """
    if number == 0:
        return None
    kernels = [step.kernel for step in steps[:number]]
    named = words[steps[number].kernel].base(kernels)
    wanted = steps[number].kernel if steps[number].kernel in kernels else named
    return steps[max((place for place, kernel in enumerate(kernels) if kernel == wanted), default=number - 1)]


def _findings(story: Story, step: ToldStep, base: ToldStep | None) -> list[str]:
    """Sentences on a step's time, counters and advice."""
    texts = []
    if base is not None and base.time and step.time:
        faster = ratio(over=base.time, under=step.time)
        texts.append(
            f"Time: {_number(base.time.value, _TIME_DIGITS)} → {_number(step.time.value, _TIME_DIGITS)} µs"
            f"{_at(step.timed_at)}, {faster.value:.2f} times as fast as `{base.label}`"
            f" ({faster.low:.2f}–{faster.high:.2f})."
        )
    elif step.time and step.timed_at:
        texts.append(f"Time: {_number(step.time.value, _TIME_DIGITS)} µs{_at(step.timed_at)}.")
    moved = _moved(story, step, base) if base is not None else []
    if moved:
        texts.append(f"Moved{_at(step.counted_at)}: {'; '.join(moved)}.")
    if sentence := advice(step.values):
        texts.append(f"Advice: {sentence[:1].lower()}{sentence[1:]}")
    return texts


def _at(configuration: str) -> str:
    return f" at {configuration}" if configuration else ""


def _moved(story: Story, step: ToldStep, base: ToldStep) -> list[str]:
    """The counters that changed most between two steps, the largest change first."""
    changes = []
    for name, unit in story.units.items():
        largest = max((one.values[name] for one in story.steps if name in one.values), default=0.0)
        if name not in base.values or name not in step.values or not largest:
            continue
        before, after = base.values[name], step.values[name]
        change = abs(math.log(max(after / largest, _NOTHING) / max(before / largest, _NOTHING)))
        if change >= math.log(_LEAST_CHANGE):
            before_text, after_text = (f"{_number(value)}{'%' if unit == '%' else ''}" for value in (before, after))
            # What is counted stands in the title.
            symbol = f" {unit}" if unit[0].isupper() else ""
            changes.append((change, f"{title(name)} {before_text} → {after_text}{symbol}"))
    return [text for _, text in sorted(changes, key=lambda change: -change[0])[:_MOST_COUNTERS]]


def _number(value: float, digits: int = 3) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == 0 else f"{value:.{digits}g}"


def _difference(step: ToldStep, base: ToldStep | None, words: Mapping[str, KernelWords]) -> list[str]:
    """The code that differs from the base's, as a fenced block; a sentence where the kernel is the same."""
    if base is None:
        return []
    if step.kernel == base.kernel:
        return [f"The same source, with an unroll factor of {step.unroll} instead of {base.unroll}.", ""]
    lines = words[step.kernel].difference(words[base.kernel])
    return [f"```diff {base.kernel}", *lines, "```", ""]
