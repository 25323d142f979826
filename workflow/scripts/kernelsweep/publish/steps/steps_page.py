"""steps.md: for each step of a study's story, its words, time, counters that moved, advice, and changed code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas

from kernelsweep.analysis.reference import timed
from kernelsweep.analysis.step_metrics import step_metrics, title, unit_of
from kernelsweep.analysis.steps import Step, step_labels
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.analysis.words import reference_text, size_text
from kernelsweep.intervals import ratio, time_interval
from kernelsweep.publish.steps.advice import Values, advice
from kernelsweep.publish.steps.kernel_words import KernelWords, read_words
from kernelsweep.results import INTERVAL

# A counter moved if it changed by this factor; the counters with the largest changes are named.
_LEAST_CHANGE, _MOST_COUNTERS = 1.1, 3
# A counter of 0 counts as this share of its largest value in the story.
_NOTHING = 0.01


def steps_text(data: StudyData, sources: Mapping[str, str], accesses: Mapping[int, str]) -> str:
    """The page; "" for a study without a ladder.

    sources   the text of each kernel's file, by its name
    accesses  the files with the pictures of who accesses what, by the place of their step
    """
    if not data.steps:
        return ""
    words = {name: read_words(name, text) for name, text in sources.items()}
    facts = _facts(data)
    labels = step_labels(data.steps)
    lines = [f"## {data.title}: why", "", f"Times and counters: at {reference_text(data.settings)}.", ""]
    for number, (step, label) in enumerate(zip(data.steps, labels, strict=True)):
        base = _base(data.steps, number, words)
        of_kernel = words[step.kernel]
        lines += [f"### {number + 1}. `{label}`", ""]
        if number == 0 or step.kernel not in {earlier.kernel for earlier in data.steps[:number]}:
            lines += [f"{paragraph}\n" for paragraph in of_kernel.paragraphs]
        found = [f"- {text}" for text in _findings(facts, number, base, labels)]
        lines += [*found, ""] if found else []
        if picture := accesses.get(number):
            lines += [f"![Who accesses what in {label}]({picture})", ""]
        lines += _difference(step, None if base is None else data.steps[base], words)
    return "\n".join(lines)


def _base(steps: Sequence[Step], number: int, words: Mapping[str, KernelWords]) -> int | None:
    """The earlier step that a step is held against: the last of its kernel, or of the one that its words name.

    Where there is none, the step before it.
    """
    if number == 0:
        return None
    kernels = [step.kernel for step in steps[:number]]
    named = words[steps[number].kernel].base(kernels)
    wanted = steps[number].kernel if steps[number].kernel in kernels else named
    return max((place for place, kernel in enumerate(kernels) if kernel == wanted), default=number - 1)


def _facts(data: StudyData) -> pandas.DataFrame:
    """A row for each step: time_us with its interval, peak_share (%), and a column for each metric; NaN without."""
    times = timed(data.at_reference(), data.device)
    rows = []
    for step in data.steps:
        found = step.rows(times)
        columns = ["time_us", "time_low_us", "time_high_us", "peak_fraction"]
        rows.append({} if found.empty else found.iloc[0][columns].to_dict())
    facts = pandas.DataFrame(rows, columns=["time_us", "time_low_us", "time_high_us", "peak_fraction"], dtype="float64")
    metrics = step_metrics(data)
    values = metrics.pivot_table(index="step", columns="metric", values="value").reindex(range(len(facts)))
    facts = facts.join(values)
    peak = data.device["peak_bandwidth_gbs"]
    shares = 100 * facts.pop("peak_fraction")
    if peak and "dram_read_throughput" in facts:
        shares = pandas.concat([shares, 100 * facts["dram_read_throughput"] / peak], axis=1).max(axis=1)
    facts.insert(3, "peak_share", shares)
    named = [name for name in data.settings["metrics"] if name in facts]
    facts.attrs["units"] = {name: unit_of(metrics, name) for name in named}
    return facts


def _findings(facts: pandas.DataFrame, number: int, base: int | None, labels: Sequence[str]) -> list[str]:
    """Sentences on a step's time, counters and advice."""
    own = facts.iloc[number]
    texts = []
    if base is not None:
        before = facts.iloc[base]
        if pandas.notna(own["time_us"]) and pandas.notna(before["time_us"]):
            faster = ratio(*(time_interval({str(key): row[key] for key in INTERVAL}) for row in (before, own)))
            texts.append(
                f"Time: {before['time_us']:.4g} → {own['time_us']:.4g} µs, {faster.value:.2f} times as fast as"
                f" `{labels[base]}` ({faster.low:.2f}–{faster.high:.2f})."
            )
        moved = _moved(facts, number, base)
        if moved:
            texts.append(f"Moved: {'; '.join(moved)}.")
    known: Values = {str(name): float(value) for name, value in own.items() if pandas.notna(value)}
    if sentence := advice(known):
        texts.append(f"Advice: {sentence[:1].lower()}{sentence[1:]}")
    return texts


def _moved(facts: pandas.DataFrame, number: int, base: int) -> list[str]:
    """The study's counters that changed most between two steps, the largest change first."""
    changes = []
    for name, unit in facts.attrs["units"].items():
        before, after, largest = facts[name].iloc[base], facts[name].iloc[number], facts[name].max()
        if pandas.isna(before) or pandas.isna(after) or not largest:
            continue
        change = abs(math.log(max(after / largest, _NOTHING) / max(before / largest, _NOTHING)))
        if change >= math.log(_LEAST_CHANGE):
            percent = "%" if unit == "%" else ""
            changes.append((change, f"{title(name)} {_number(before)}{percent} → {_number(after)}{percent}"))
    return [text for _, text in sorted(changes, key=lambda change: -change[0])[:_MOST_COUNTERS]]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == 0 else f"{value:.3g}"


def _difference(step: Step, base: Step | None, words: Mapping[str, KernelWords]) -> list[str]:
    """The code that differs from the base's, as a fenced block; a sentence where the kernel is the same."""
    if base is None:
        return []
    if step.kernel == base.kernel:
        grid = (
            ""
            if step.grid_size == base.grid_size or step.grid_size is None
            else f" in {size_text(step.grid_size)} blocks"
        )
        return [f"The same source, with an unroll factor of {step.unroll} instead of {base.unroll}{grid}.", ""]
    lines = words[step.kernel].difference(words[base.kernel])
    return [f"```diff {base.kernel}", *lines, "```", ""]
