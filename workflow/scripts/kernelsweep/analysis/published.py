"""Published figures, read from resources/published, which tables and figures set beside our own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.results import finite, read_rows
from kernelsweep.sweep.settings import PublishedSettings, StudySettings

FOLDER = "resources/published"

# The kernel name of the host's processor in published figures.
CPU = "cpu"

_TIME_METRIC = "time"
_FIGURES = ("source", "kernel", "metric", "unit", "value")

MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Published:
    """The figures of one publication. An unroll factor is None where the file gives a kernel without one.

    label     how tables and figures call the publication
    file      its CSV in resources/published
    device    the device that was measured
    source    the source of its times
    compare   which of its figures compare with ours: `times`, or only the `ratios` between steps, for another kind of
              device
    times_us  microseconds by (kernel, unroll factor), in the file's order
    metrics   hardware metrics by (kernel, unroll factor, metric)
    outputs   the elements that an exchange left by (exchange, arguments), in the file's order
    """

    label: str
    file: str = ""
    device: str = ""
    source: str = ""
    compare: str = "times"
    times_us: Mapping[tuple[str, int | None], float] = field(default_factory=dict)
    metrics: Mapping[tuple[str, int | None, str], float] = field(default_factory=dict)
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def only_ratios(self) -> bool:
        """Whether only the ratios between steps compare with ours, since the device is of another kind."""
        return self.compare == "ratios"

    def time_us(self, kernel: str, unroll: int | None) -> float | None:
        """The kernel's time at that unroll factor, or its only one where the publication has no factors."""
        return self.times_us.get((kernel, unroll), self.times_us.get((kernel, None)))

    def metric(self, kernel: str, unroll: int | None, name: str) -> float | None:
        """The kernel's metric at that unroll factor, or its only one where the publication has no factors."""
        return self.metrics.get((kernel, unroll, name), self.metrics.get((kernel, None, name)))


def steps_before(
    steps: Sequence[tuple[str, int | None]], published: Published | None, undefined: Collection[str]
) -> list[int | None]:
    """The place of the step that each step is compared with; None where there is none.

    Of a published step that is the published one before it, so that its ratio and the published one have the same two
    sides. Of a step of our own, it is the last one before it that isn't of undefined behaviour.

    steps      a kernel and its unroll factor each, in the story's order
    undefined  the kernels of undefined behaviour
    """
    is_published = [published is not None and published.time_us(*step) is not None for step in steps]
    found = []
    for number, is_in_both in enumerate(is_published):
        fits = is_published if is_in_both else [kernel not in undefined for kernel, _ in steps]
        found.append(max((place for place in range(number) if fits[place]), default=None))
    return found


def load_published(spec: PublishedSettings | None, directory: Path, of_outputs: bool = False) -> Published | None:
    """The publication that a study's `published` entry names, or None where it names none.

    spec        `file` (a CSV in `directory`), `device`, `label`, `compare`; `where` keeps the rows whose columns have
                the given values (or null); `where_cpu` does so for the rows of the kernel `cpu` (null: they are among
                the rows of `where`); `where_metrics` adds rows, such as metrics outside the source's table (or null)
    of_outputs  whether the file has the outputs of exchanges (columns exchange, arguments, output) or times and
                metrics (source, kernel, metric, unit, value, and unroll where kernels have factors)
    Raises UserError, naming file and key, when the file or a column is missing, a unit or number cannot be read, no
    row is kept, or two rows give one figure.
    """
    if spec is None:
        return None
    path = directory / str(spec.file)
    if of_outputs:
        rows = _chosen_rows(path, spec.where, ("exchange", "arguments", "output"))
        outputs = _each_once(rows, ("exchange", "arguments"), "output", path)
        of = {(exchange, arguments): " ".join(output.split()) for (exchange, arguments), output in outputs.items()}
        return Published(label=str(spec.label), file=str(spec.file), outputs=of)
    rows = _chosen_rows(path, spec.where, _FIGURES)
    if spec.where_cpu:
        rows = [row for row in rows if row["kernel"] != CPU]
        rows += [row for row in _chosen_rows(path, spec.where_cpu, _FIGURES) if row["kernel"] == CPU]
    if spec.where_metrics:
        further = _chosen_rows(path, spec.where_metrics, _FIGURES)
        rows += [row for row in further if row["metric"] != _TIME_METRIC]
    figures = _each_once([{"unroll": "", **row} for row in rows], ("kernel", "unroll", "metric"), "value", path)
    times = [row for row in rows if row["metric"] == _TIME_METRIC]
    try:
        units = [MICROSECONDS[row["unit"]] for row in times]
        values = {
            (kernel, int(unroll) if unroll else None, metric): _positive(value)
            if metric == _TIME_METRIC
            else finite(value)
            for (kernel, unroll, metric), value in figures.items()
        }
    except (KeyError, ValueError) as error:
        raise UserError(
            f"{path}: a unit (of times: {', '.join(MICROSECONDS)}), unroll factor or value can't be read: {error}"
        ) from None
    # Rounded to a femtosecond: 0.1644 ms is 164.4 us, not 164.39999999999998.
    of_times = [(kernel, unroll, value) for (kernel, unroll, metric), value in values.items() if metric == _TIME_METRIC]
    if not of_times:
        raise UserError(f"{path}: no row with metric `time` matches published.where = {dict(spec.where)}")
    return Published(
        label=str(spec.label),
        file=str(spec.file),
        device=str(spec.device),
        source=", ".join(dict.fromkeys(row["source"] for row in times)),
        compare=str(spec.compare),
        times_us={
            (kernel, unroll): round(value * unit, 9)
            for (kernel, unroll, value), unit in zip(of_times, units, strict=True)
        },
        metrics={figure: value for figure, value in values.items() if figure[2] != _TIME_METRIC},
    )


def _positive(text: str) -> float:
    if (value := finite(text)) <= 0:
        raise ValueError(f"{text} is no number above 0")
    return value


def _each_once(
    rows: Sequence[Mapping[str, str]], names: Sequence[str], value: str, path: Path
) -> dict[tuple[str, ...], str]:
    """The rows' values by some columns. Raises UserError where two rows have the same there, or there is none."""
    found: dict[tuple[str, ...], str] = {}
    for row in rows:
        key = tuple(row[name] for name in names)
        if key in found:
            raise UserError(f"{path}: several values of {' '.join(key)}; narrow published.where to the rows of one run")
        found[key] = row[value]
    if not found:
        raise UserError(f"{path}: no row matches published.where")
    return found


def _chosen_rows(path: Path, where: Mapping[str, Any] | None, columns: Sequence[str]) -> list[dict[str, str]]:
    """The file's rows whose columns have the values in `where`; the file must have the `columns`."""
    if not path.is_file():
        raise UserError(f"published.file: {path} does not exist")
    rows = read_rows(path)
    where = where or {}
    missing = [column for column in (*columns, *where) if rows and column not in rows[0]]
    if missing:
        raise UserError(f"published.file: {path} has no column {', '.join(missing)}; it has {', '.join(rows[0])}")
    return [row for row in rows if all(row[column] == str(value) for column, value in where.items())]


def check_published(settings: StudySettings, root: Path, shown: str) -> None:
    """Raise UserError if a file of published figures that a study names doesn't exist, or can't be read."""
    name = settings.published.file if settings.published else None
    if name and not (root / FOLDER / name).is_file():
        known = sorted(path.name for path in (root / FOLDER).glob("*.csv"))
        guess = nearest(name, known) or ";"
        raise UserError(f"{shown}: published.file is {name!r}{guess} In {FOLDER}/: {', '.join(known) or 'none'}.")
    load_published(settings.published, root / FOLDER, settings.compares == "outputs")
