"""Measurement rows as tables and figures want them: read, in one order, and picked at a study's reference point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from kernelsweep.errors import UserError
from kernelsweep.results import (
    CONTRACT_COLUMNS,
    DRIVER_LIMIT_KERNELS,
    FURTHER_MEASUREMENT_COLUMNS,
    FURTHER_POINT_COLUMNS,
    MEASUREMENT_COLUMNS,
    POINT_COLUMNS,
)
from kernelsweep.sweep.axes import grid_on_device
from kernelsweep.sweep.launch_plans import VECTOR_BYTES, whole_clusters

POINT_INTEGERS = ("array_size", "block_size", "unroll")
OTHER_INTEGERS = ("launches", "grid_size", "samples", "width")
FLOATS = (
    "time_us",
    "time_low_us",
    "time_high_us",
    "noise",
    "bandwidth_gbs",
    "peak_fraction",
    "clock_mhz",
    "relative_error",
)

# What is read of a file at once.
_ROWS_AT_ONCE = 100_000

UNDEFINED_BEHAVIOUR = "undefined_behaviour"

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A size this close to a large power of two was chosen for being just off it: 2²⁰+3 says so, 1,048,579 does not.
NEAR_A_POWER = 64
LARGE_POWER = 1024


def load_measurements(
    paths: Sequence[Path], study: str | None = None, references: Mapping[str, Mapping[str, Any]] | None = None
) -> pandas.DataFrame:
    """The rows of all `paths`, sorted by study, kernel and point, so that the files' order never shows.

    study       only those of this one
    references  only those that are at the reference point of their study but for the array size; settings by study

    Each file is CSV with the columns of results.MEASUREMENT_COLUMNS, plain or `.csv.gz`; any others are kept as text.
    An empty field becomes NaN in a column of numbers and "" in one of text.
    Raises UserError when a column is missing, a number cannot be read, or a point occurs twice.
    """
    frames = [
        pandas.DataFrame(columns=list(MEASUREMENT_COLUMNS), dtype=str),
        *(_load(path, study, references) for path in paths),
    ]
    rows = pandas.concat(frames, ignore_index=True)
    rows = rows.astype(dict.fromkeys(POINT_INTEGERS, "int64"))
    rows = rows.astype(dict.fromkeys(OTHER_INTEGERS, "Int64"))
    rows = rows.astype(dict.fromkeys(FLOATS, "float64"))
    key = ["study", "kernel", "platform", "device", *POINT_COLUMNS, *FURTHER_POINT_COLUMNS]
    if rows.duplicated(key).any():
        twice = rows[rows.duplicated(key)].iloc[0]
        files = ", ".join(str(path) for path in paths)
        raise UserError(f"{files}: the point {dict(twice[key])} is there twice; keep one row a point")
    return rows.sort_values(key, ignore_index=True)


def _load(path: Path, study: str | None, references: Mapping[str, Mapping[str, Any]] | None) -> pandas.DataFrame:
    columns = pandas.read_csv(path, nrows=0).columns
    missing = [column for column in CONTRACT_COLUMNS if column not in columns]
    if missing:
        raise UserError(f"{path}: no column {', '.join(missing)}; expected {', '.join(CONTRACT_COLUMNS)}")
    # Bit by bit, so that of a file of all studies no more is kept than what is asked for.
    with pandas.read_csv(path, dtype=str, keep_default_na=False, chunksize=_ROWS_AT_ONCE) as chunks:
        rows = pandas.concat([_wanted(chunk, study, references) for chunk in chunks])
    rows = rows.assign(**{column: "" for column in FURTHER_MEASUREMENT_COLUMNS if column not in rows.columns})
    for column in (*POINT_INTEGERS, *OTHER_INTEGERS, *FLOATS):
        try:
            rows[column] = pandas.to_numeric(rows[column].replace("", None))
        except ValueError as error:
            raise UserError(f"{path}: column {column}: {error}") from error
        if column in POINT_INTEGERS and rows[column].isna().any():
            raise UserError(f"{path}: column {column} is empty in some row; every row names its point in full")
    return rows


def _wanted(
    rows: pandas.DataFrame, study: str | None, references: Mapping[str, Mapping[str, Any]] | None
) -> pandas.DataFrame:
    """What load_measurements() is asked for, of rows that are still texts."""
    if study is not None:
        rows = rows[rows["study"] == study]
    if references is None:
        return rows
    near = pandas.Series(False, index=rows.index)
    for name, settings in references.items():
        of_study = rows["study"] == name
        for column, value in settings["reference"].items():
            if column != "array_size":
                of_study &= rows[column] == str(value)
        near |= of_study
    return rows[near]


def has_times(device: Mapping[str, Any]) -> bool:
    """Whether the device has a clock that means something: a GPU's times are reported, an emulator's never."""
    return bool(device["kind"] == "gpu")


def one_study(measurements: pandas.DataFrame) -> pandas.DataFrame:
    """`measurements` unchanged; raises ValueError when they are of several studies, which share kernel names."""
    studies = sorted(measurements["study"].unique())
    if len(studies) > 1:
        raise ValueError(f"measurements of several studies ({', '.join(studies)}): pass one study's rows")
    return measurements


def at_reference(
    study: Mapping[str, Any], measurements: pandas.DataFrame, free: Sequence[str] = ()
) -> pandas.DataFrame:
    """The rows at the study's reference point; `free` names the coordinates that may differ from it."""
    rows = one_study(measurements)
    for column, value in study["reference"].items():
        if column not in free:
            rows = rows[rows[column] == value]
    return rows


def in_one_group(study: Mapping[str, Any], measurements: pandas.DataFrame) -> pandas.DataFrame:
    """Of an exchange: the rows in which the reference point's array lies in one thread block that is one group."""
    rows = at_reference(study, measurements, free=("block_size",))
    elements = study["reference"]["block_size"]
    chosen = (rows["block_size"] * rows["unroll"] == elements) & (rows["width"] == elements).fillna(False)
    found: pandas.DataFrame = rows[chosen].sort_values("unroll")
    return found


def timed(rows: pandas.DataFrame, device: Mapping[str, Any]) -> pandas.DataFrame:
    """The rows that carry a time to report: status `ok`, on a device whose clock means something."""
    return rows[(rows["status"] == "ok") & rows["time_us"].notna() & has_times(device)]


def undefined_kernels(measurements: pandas.DataFrame) -> set[str]:
    """The kernels flagged `undefined_behaviour`: shown, but never called the fastest, and never a baseline."""
    flagged = measurements["flags"].str.split().map(lambda flags: UNDEFINED_BEHAVIOUR in flags).astype(bool)
    return set(measurements.loc[flagged, "kernel"])


@dataclass(frozen=True)
class Step:
    """One step of a study's ladder; grid_size is None where the kernel's plan sets the number of blocks itself."""

    kernel: str
    unroll: int
    grid_size: int | None = None

    @property
    def name(self) -> str:
        """How a step is written in figures: `interleaved`, `unrolled ×8`."""
        return step_name(self.kernel, self.unroll)

    def rows(self, measurements: pandas.DataFrame) -> pandas.DataFrame:
        """The rows of `measurements` that are of this step.

        Where its plan fits the grid to the array, small arrays have a smaller grid.
        """
        rows = measurements[(measurements["kernel"] == self.kernel) & (measurements["unroll"] == self.unroll)]
        if self.grid_size is None:
            return rows
        own = rows["grid_size"].isin([self.grid_size, whole_clusters(self.grid_size)])
        fitted = (rows["grid_size"] < self.grid_size) & _fitted(rows)
        chosen = rows[(own | fitted).fillna(False).astype(bool)]
        largest = chosen.groupby(list(POINT_COLUMNS))["grid_size"].transform("max")
        return chosen[chosen["grid_size"] == largest]


def _fitted(rows: pandas.DataFrame) -> pandas.Series[bool]:
    """Which rows have as many blocks as their array has work for, in whole thread block clusters or not (see plans)."""
    # As integers: of no rows at all, pandas with pyarrow makes a column of text.
    element_bytes = rows["dtype"].map(lambda dtype: np.dtype(dtype).itemsize).astype("int64")
    sizes = rows["array_size"] * element_bytes
    needed = -(-sizes // (rows["block_size"] * rows["unroll"] * VECTOR_BYTES))
    fitted: pandas.Series[bool] = (rows["grid_size"] == needed) | (rows["grid_size"] == whole_clusters(needed))
    return fitted


def ladder_steps(study: Mapping[str, Any], device: Mapping[str, Any]) -> list[Step]:
    """The steps of the study's ladder, in the order of its story, for a device with its multiprocessors."""
    return [
        Step(
            str(step["kernel"]),
            int(step["unroll"]),
            None
            if step["grid_size"] is None
            else grid_on_device(step["grid_size"], device["multiprocessors"], study["reference"]["block_size"]),
        )
        for step in study["ladder"]
    ]


def step_name(kernel: str, unroll: int) -> str:
    """How a kernel at an unroll factor is written in figures: `interleaved`, `unrolled ×8`."""
    return kernel if unroll == 1 else f"{kernel} ×{unroll}"


def of_kernels(study: Mapping[str, Any], measurements: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of the study's own kernels, without the baselines on the host's processor."""
    return measurements[measurements["kernel"].isin([kernel["name"] for kernel in study["kernels"]])]


def on_device(study: Mapping[str, Any], measurements: pandas.DataFrame) -> pandas.DataFrame:
    """As of_kernels, with the libraries' reductions and the driver's copy and fill, which ran on the same device."""
    names = [kernel["name"] for kernel in study["kernels"]]
    return measurements[measurements["kernel"].isin([*names, *study["rivals"], *DRIVER_LIMIT_KERNELS])]


def size_text(array_size: int) -> str:
    """An array size for readers: 2²⁴, 2²⁰+3, 1,000."""
    power = max(array_size, 1).bit_length() - 1
    if array_size - 2**power > 2 ** (power + 1) - array_size:
        power += 1
    offset = array_size - 2**power
    if offset == 0 and array_size > 1:
        return f"2{str(power).translate(SUPERSCRIPTS)}"
    if abs(offset) <= NEAR_A_POWER and array_size > LARGE_POWER:
        return f"2{str(power).translate(SUPERSCRIPTS)}{'+' if offset > 0 else '−'}{abs(offset)}"
    return f"{array_size:,}"


def reference_text(study: Mapping[str, Any], free: Sequence[str] = ()) -> str:
    """The reference point in words, without the coordinates in `free`."""
    reference = study["reference"]
    words = {
        "array_size": f"array size {size_text(reference['array_size'])}",
        "dtype": str(reference["dtype"]),
        "operation": str(reference["operation"]),
        "block_size": f"block size {reference['block_size']}",
        "cache": f"{reference['cache']} cache",
    }
    return ", ".join(text for column, text in words.items() if column not in free)


def device_text(device: Mapping[str, Any]) -> str:
    """Where the numbers come from: the device's provenance, with its name in front unless it holds that already."""
    name, provenance = str(device["name"]), str(device["provenance"])
    if name not in provenance:
        return f"{name} ({provenance})"
    return provenance[:1].upper() + provenance[1:]


def no_bandwidth(
    rows: pandas.DataFrame, study: Mapping[str, Any], device: Mapping[str, Any], free: Sequence[str]
) -> str:
    """Why there is no bandwidth to draw from `rows`, those at the reference point but for the columns `free`."""
    if not has_times(device):
        return f"No times, so no bandwidth: {device_text(device)}."
    if rows.empty:
        return f"No points at {reference_text(study, free=free)} in this sweep."
    return f"No point has a time: {', '.join(sorted(rows['status'].unique())).replace('_', ' ')}."
