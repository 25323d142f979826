"""Published figures, read from resources/published: what a study's own are set beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.results import read_rows
from kernelsweep.sweep.schema import nearest

FOLDER = "resources/published"

# What the host's processor is called among the kernels of published figures.
CPU = "cpu"

MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class Published:
    """The times of one publication.

    `times_us` maps (kernel, unroll factor) to microseconds, in the file's order; the factor is None where the file has
    none, as for a CPU's loop, or for a publication that has each kernel once.
    `compare` says what means something beside times of ours: `times`, or for another kind of device only the `ratios`
    between steps.
    """

    label: str
    device: str
    source: str
    times_us: Mapping[tuple[str, int | None], float]
    compare: str = "times"

    def time_us(self, kernel: str, unroll: int | None) -> float | None:
        """The kernel's time at that unroll factor, or its only one where the publication has no factors."""
        return self.times_us.get((kernel, unroll), self.times_us.get((kernel, None)))


@dataclass(frozen=True)
class PublishedMetrics:
    """The hardware metrics of one publication: `values` maps (kernel, unroll factor, metric) to numbers in its units.

    `compare` is as for Published.
    """

    label: str
    device: str
    compare: str
    values: Mapping[tuple[str, int | None, str], float]

    def value(self, kernel: str, unroll: int, metric: str) -> float | None:
        """The step's metric, under its unroll factor or, where the publication has none, under its name alone."""
        return self.values.get((kernel, unroll, metric), self.values.get((kernel, None, metric)))


@dataclass(frozen=True)
class PublishedOutputs:
    """What exchanges left of an array: `outputs` maps (exchange, arguments) to elements, in the file's order."""

    label: str
    file: str
    outputs: Mapping[tuple[str, str], str]


def load_published(spec: Mapping[str, Any] | None, directory: Path) -> Published | None:
    """The times that a study's `published` entry names, or None when it names none.

    `spec` has `file` (a CSV in `directory` with at least source, kernel, metric, unit and value, and unroll where the
    kernels have factors), `device`, `label`, `compare`, `where`, which keeps the rows whose columns have the given
    values (or null), and `where_cpu`, which does so for the rows of the kernel `cpu` (or null, where they are among
    those of `where`). Only rows whose metric is `time` are read.
    Raises UserError, naming file and key, when the file is missing, a column of `where` is unknown, a unit or number
    cannot be read, or two rows give a time for the same (kernel, unroll).
    """
    if spec is None:
        return None
    path = directory / str(spec["file"])
    times_us: dict[tuple[str, int | None], float] = {}
    sources: list[str] = []
    columns = ("source", "kernel", "metric", "unit", "value")
    rows = _chosen_rows(spec, path, columns)
    if spec.get("where_cpu"):
        of_cpu = _chosen_rows({**spec, "where": spec["where_cpu"]}, path, columns)
        rows = [row for row in rows if row["kernel"] != CPU] + [row for row in of_cpu if row["kernel"] == CPU]
    for row in rows:
        if row["metric"] != "time":
            continue
        unroll = row.get("unroll", "")
        step = (row["kernel"], int(unroll) if unroll else None)
        if step in times_us:
            raise UserError(
                f"{path}: several times for {row['kernel']}, unroll {unroll or 'empty'};"
                " narrow published.where to the rows of one run"
            )
        times_us[step] = _microseconds(row, path)
        sources.append(row["source"])
    if not times_us:
        raise UserError(f"{path}: no row with metric `time` matches published.where = {dict(spec['where'] or {})}")
    source = ", ".join(dict.fromkeys(sources))
    return Published(str(spec["label"]), str(spec["device"]), source, times_us, str(spec["compare"]))


def load_published_metrics(spec: Mapping[str, Any] | None, directory: Path) -> PublishedMetrics | None:
    """The hardware metrics among the figures that a study's `published` entry names, or None when there are none.

    `spec` is as for load_published, and its `where_metrics` keeps further rows, such as metrics that the source tells
    outside its table (or null). Rows whose metric is `time` are left out. Raises UserError as load_published does.
    """
    if spec is None:
        return None
    path = directory / str(spec["file"])
    columns = ("kernel", "metric", "unit", "value")
    rows = _chosen_rows(spec, path, columns)
    if spec.get("where_metrics"):
        rows += _chosen_rows({**spec, "where": spec["where_metrics"]}, path, columns)
    values: dict[tuple[str, int | None, str], float] = {}
    for row in rows:
        if row["metric"] == "time":
            continue
        unroll = row.get("unroll", "")
        figure = (row["kernel"], int(unroll) if unroll else None, row["metric"])
        if figure in values:
            raise UserError(
                f"{path}: several values of {row['metric']} for {row['kernel']}, unroll {unroll or 'empty'};"
                " narrow published.where to the rows of one run"
            )
        try:
            values[figure] = float(row["value"])
        except ValueError:
            raise UserError(
                f"{path}: value `{row['value']}` of {row['kernel']}'s {row['metric']} is no number"
            ) from None
    return PublishedMetrics(str(spec["label"]), str(spec["device"]), str(spec["compare"]), values) if values else None


def load_published_outputs(spec: Mapping[str, Any] | None, directory: Path) -> PublishedOutputs | None:
    """The exchanges' outputs that a study's `published` entry names, or None when it names none.

    `spec` is as for load_published, but for the file's columns: exchange, arguments and output.
    Raises UserError, naming file and key, when the file or a column is missing, or an exchange is there twice.
    """
    if spec is None:
        return None
    path = directory / str(spec["file"])
    outputs: dict[tuple[str, str], str] = {}
    for row in _chosen_rows(spec, path, ("exchange", "arguments", "output")):
        exchange = (row["exchange"], row["arguments"])
        if exchange in outputs:
            raise UserError(f"{path}: several outputs of {' '.join(exchange)}; keep one, or narrow published.where")
        outputs[exchange] = " ".join(row["output"].split())
    if not outputs:
        raise UserError(f"{path}: no row matches published.where = {dict(spec['where'] or {})}")
    return PublishedOutputs(str(spec["label"]), str(spec["file"]), outputs)


def _chosen_rows(spec: Mapping[str, Any], path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The file's rows that published.where keeps; the file must have the `columns`."""
    if not path.is_file():
        raise UserError(f"published.file: {path} does not exist")
    rows = read_rows(path)
    where = spec["where"] or {}
    there = rows[0] if rows else dict.fromkeys((*columns, *where))
    missing = [column for column in columns if column not in there]
    if missing:
        raise UserError(f"published.file: {path} has no column {', '.join(missing)}; it has {', '.join(there)}")
    unknown = [column for column in where if column not in there]
    if unknown:
        raise UserError(f"published.where: {path} has no column {', '.join(unknown)}; it has {', '.join(there)}")
    return [row for row in rows if all(row[column] == str(value) for column, value in where.items())]


def _microseconds(row: Mapping[str, str], path: Path) -> float:
    if row["unit"] not in MICROSECONDS:
        raise UserError(f"{path}: unit `{row['unit']}` of {row['kernel']}'s time; known: {', '.join(MICROSECONDS)}")
    try:
        # Rounded to a femtosecond: 0.1644 ms is 164.4 us, not 164.39999999999998.
        return round(float(row["value"]) * MICROSECONDS[row["unit"]], 9)
    except ValueError:
        raise UserError(f"{path}: value `{row['value']}` of {row['kernel']}'s time is no number") from None


def check_published(settings: Mapping[str, Any], root: Path, shown: str) -> None:
    """Raise UserError if the file of published figures that a study names doesn't exist."""
    published = settings["published"]
    if published and not (root / FOLDER / published["file"]).is_file():
        known = sorted(path.name for path in (root / FOLDER).glob("*.csv"))
        guess = nearest(published["file"], known) or ";"
        raise UserError(f"{shown}: published.file is {published['file']!r}{guess} In {FOLDER}/: {', '.join(known)}.")
