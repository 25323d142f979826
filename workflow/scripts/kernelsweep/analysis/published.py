"""Published figures, read from resources/published, which tables and figures set beside our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.results import finite, read_rows

FOLDER = "resources/published"

# The kernel name of the host's processor in published figures.
CPU = "cpu"

MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass(frozen=True)
class PublishedRatio:
    """A printed speedup: the reference kernel's time over the kernel's."""

    source: str
    kernel: str
    unroll: int
    reference_kernel: str
    reference_unroll: int
    value: float


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
    ratios    speedups that a source prints without times
    outputs   the elements that an exchange left by (exchange, arguments), in the file's order
    """

    label: str
    file: str = ""
    device: str = ""
    source: str = ""
    compare: str = "times"
    times_us: Mapping[tuple[str, int | None], float] = field(default_factory=dict)
    metrics: Mapping[tuple[str, int | None, str], float] = field(default_factory=dict)
    ratios: tuple[PublishedRatio, ...] = ()
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def only_ratios(self) -> bool:
        """Whether only the ratios between steps compare with ours, since the device is of another kind."""
        return self.compare == "ratios"

    def time_us(self, kernel: str, unroll: int | None) -> float | None:
        """The kernel's time at that unroll factor, or its only one where the publication has no factors."""
        return self.times_us.get((kernel, unroll), self.times_us.get((kernel, None)))

    def metric(self, kernel: str, unroll: int, name: str) -> float | None:
        """The kernel's metric at that unroll factor, or its only one where the publication has no factors."""
        return self.metrics.get((kernel, unroll, name), self.metrics.get((kernel, None, name)))


def load_published(spec: Mapping[str, Any] | None, directory: Path, of_outputs: bool = False) -> Published | None:
    """The publication that a study's `published` entry names, or None where it names none.

    spec        `file` (a CSV in `directory`), `device`, `label`, `compare`; `where` keeps the rows whose columns have
                the given values (or null); `where_cpu` does so for the rows of the kernel `cpu` (null: they are among
                the rows of `where`); `where_metrics` adds rows, such as metrics outside the source's table (or null);
                `ratios`, a file in `directory` with speedups (or null)
    of_outputs  whether the file has the outputs of exchanges (columns exchange, arguments, output) or times and
                metrics (source, kernel, metric, unit, value, and unroll where kernels have factors)
    Raises UserError, naming file and key, when the file or a column is missing, a unit or number cannot be read, no
    row is kept, or two rows give one figure.
    """
    if spec is None:
        return None
    path = directory / str(spec["file"])
    if of_outputs:
        return Published(label=str(spec["label"]), file=str(spec["file"]), outputs=_outputs(spec, path))
    times_us, source = _times(spec, path)
    return Published(
        label=str(spec["label"]),
        file=str(spec["file"]),
        device=str(spec["device"]),
        source=source,
        compare=str(spec["compare"]),
        times_us=times_us,
        metrics=_metrics(spec, path),
        ratios=_ratios(directory / str(spec["ratios"])) if spec.get("ratios") else (),
    )


def _times(spec: Mapping[str, Any], path: Path) -> tuple[dict[tuple[str, int | None], float], str]:
    """The times, microseconds, and their source."""
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
        step = (row["kernel"], _unroll(row))
        if step in times_us:
            raise UserError(
                f"{path}: several times for {_step_text(row)}; narrow published.where to the rows of one run"
            )
        times_us[step] = _microseconds(row, path)
        sources.append(row["source"])
    if not times_us:
        raise UserError(f"{path}: no row with metric `time` matches published.where = {dict(spec['where'] or {})}")
    return times_us, ", ".join(dict.fromkeys(sources))


def _metrics(spec: Mapping[str, Any], path: Path) -> dict[tuple[str, int | None, str], float]:
    columns = ("kernel", "metric", "unit", "value")
    rows = _chosen_rows(spec, path, columns)
    if spec.get("where_metrics"):
        rows += _chosen_rows({**spec, "where": spec["where_metrics"]}, path, columns)
    values: dict[tuple[str, int | None, str], float] = {}
    for row in rows:
        if row["metric"] == "time":
            continue
        figure = (row["kernel"], _unroll(row), row["metric"])
        if figure in values:
            raise UserError(
                f"{path}: several values of {row['metric']} for {_step_text(row)};"
                " narrow published.where to the rows of one run"
            )
        try:
            values[figure] = finite(row["value"])
        except ValueError:
            raise UserError(
                f"{path}: value `{row['value']}` of {row['kernel']}'s {row['metric']} is no number"
            ) from None
    return values


def _ratios(path: Path) -> tuple[PublishedRatio, ...]:
    """The speedups that a file says to be about a value; orders without an amount are claims alone."""
    columns = ("source", "kernel", "unroll", "reference_kernel", "reference_unroll", "quantity", "relation", "value")
    rows = _chosen_rows({"where": {"quantity": "speedup", "relation": "about"}}, path, columns)
    try:
        return tuple(
            PublishedRatio(
                row["source"],
                row["kernel"],
                int(row["unroll"]),
                row["reference_kernel"],
                int(row["reference_unroll"]),
                finite(row["value"]),
            )
            for row in rows
        )
    except ValueError as error:
        raise UserError(f"{path}: a ratio can't be read: {error}") from None


def _outputs(spec: Mapping[str, Any], path: Path) -> dict[tuple[str, str], str]:
    outputs: dict[tuple[str, str], str] = {}
    for row in _chosen_rows(spec, path, ("exchange", "arguments", "output")):
        exchange = (row["exchange"], row["arguments"])
        if exchange in outputs:
            raise UserError(f"{path}: several outputs of {' '.join(exchange)}; keep one, or narrow published.where")
        outputs[exchange] = " ".join(row["output"].split())
    if not outputs:
        raise UserError(f"{path}: no row matches published.where = {dict(spec['where'] or {})}")
    return outputs


def _unroll(row: Mapping[str, str]) -> int | None:
    try:
        return int(row["unroll"]) if row.get("unroll") else None
    except ValueError:
        raise UserError(f"published.file: unroll `{row['unroll']}` of {row['kernel']} is no whole number") from None


def _step_text(row: Mapping[str, str]) -> str:
    return f"{row['kernel']}, unroll {row.get('unroll') or 'empty'}"


def _chosen_rows(spec: Mapping[str, Any], path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The file's rows that published.where keeps; the file must have the `columns`."""
    if not path.is_file():
        raise UserError(f"published.file: {path} does not exist")
    rows = read_rows(path)
    where = spec["where"] or {}
    present = rows[0] if rows else dict.fromkeys((*columns, *where))
    missing = [column for column in columns if column not in present]
    if missing:
        raise UserError(f"published.file: {path} has no column {', '.join(missing)}; it has {', '.join(present)}")
    unknown = [column for column in where if column not in present]
    if unknown:
        raise UserError(f"published.where: {path} has no column {', '.join(unknown)}; it has {', '.join(present)}")
    return [row for row in rows if all(row[column] == str(value) for column, value in where.items())]


def _microseconds(row: Mapping[str, str], path: Path) -> float:
    if row["unit"] not in MICROSECONDS:
        raise UserError(f"{path}: unit `{row['unit']}` of {row['kernel']}'s time; known: {', '.join(MICROSECONDS)}")
    try:
        # Rounded to a femtosecond: 0.1644 ms is 164.4 us, not 164.39999999999998.
        return round(finite(row["value"]) * MICROSECONDS[row["unit"]], 9)
    except ValueError:
        raise UserError(f"{path}: value `{row['value']}` of {row['kernel']}'s time is no number") from None


def check_published(settings: Mapping[str, Any], root: Path, shown: str) -> None:
    """Raise UserError if a file of published figures that a study names doesn't exist."""
    published = settings["published"]
    for key in ("file", "ratios") if published else ():
        name = published[key]
        if name and not (root / FOLDER / name).is_file():
            known = sorted(path.name for path in (root / FOLDER).glob("*.csv"))
            guess = nearest(name, known) or ";"
            raise UserError(f"{shown}: published.{key} is {name!r}{guess} In {FOLDER}/: {', '.join(known)}.")
