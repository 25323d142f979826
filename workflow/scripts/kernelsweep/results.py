"""The result files' columns, and how rows are written and read: the format that users script against."""

from __future__ import annotations

import contextlib
import csv
import gzip
import math
import os
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, unwritable
from kernelsweep.json_files import AGAIN
from kernelsweep.statistics import summarise_visits

# What names a point: a variant at one array size and cache state. grid_size is an axis only for kernels whose launch
# plan leaves the number of blocks to the sweep; width and arguments are an exchange's.
POINT_COLUMNS = ("array_size", "block_size", "unroll", "dtype", "operation", "cache")
FURTHER_POINT_COLUMNS = ("grid_size", "width", "arguments")
ALL_POINT_COLUMNS = (*POINT_COLUMNS, *FURTHER_POINT_COLUMNS)
# Those that hold integers; those of the former are in every row.
POINT_INTEGERS = ("array_size", "block_size", "unroll")
FURTHER_POINT_INTEGERS = ("grid_size", "width")

# measurements.csv, one row a point: the contract's columns in its order, then ours.
#   time_us                    median over the samples, microseconds
#   time_low_us, time_high_us  95% confidence interval of that median, widened to span the visits' medians
#   noise                      interquartile range over the median, a fraction
#   bandwidth_gbs              each input byte counted once, 10^9 bytes a second
#   peak_fraction              bandwidth over the memory's theoretical peak
#   clock_mhz                  the multiprocessors' lowest clock while sampling
#   flags                      remarks, separated by spaces:
#                                noisy                a visit ended by a ceiling, its interval wider than asked
#                                undefined_behaviour  the kernel's; nothing says what is right
#                                throttled            a visit couldn't be had at the full clock
#                                other_processes      the GPU had processes of others on it
# and after the contract's columns, empty or missing in what an earlier version measured:
#   relative_error             of a floating-point sum, against the exactly rounded one (math.fsum's)
#   bit_identical              whether repeated runs of a floating-point point left the same bits: yes or no
#   visit_spread               the largest median of a visit less the smallest, over the median: how well it repeats
#   temperature_c, power_w     the GPU's highest temperature while sampling, and its board's power; some GPUs give that
#                              as an average over about a second, so that it is of the points before as well
#   throttle_reasons           why the clock was held back during samples; those count only where flags has throttled
#   energy_mj                  of one run of the launch plan, millijoules, where measuring.energy_seconds asks for it
#   device_uuid                the GPU's: two of one model may differ by a percent
#   seconds, busy_seconds      what the visits took, checking included, and how much of that the GPU was at work
#   width, arguments, output   an exchange's: lanes of a group, its arguments, and what it left of up to 32 elements
#   visits                     how many visits the time is made of
CONTRACT_COLUMNS = (
    "study",
    "kernel",
    "platform",
    "device",
    *POINT_COLUMNS,
    "launches",
    "grid_size",
    "status",
    "message",
    "samples",
    "time_us",
    "time_low_us",
    "time_high_us",
    "noise",
    "bandwidth_gbs",
    "peak_fraction",
    "clock_mhz",
    "flags",
    "source_sha256",
    "binary_sha256",
)
FURTHER_MEASUREMENT_COLUMNS = (
    "relative_error",
    "bit_identical",
    "visit_spread",
    "temperature_c",
    "power_w",
    "throttle_reasons",
    "energy_mj",
    "device_uuid",
    "seconds",
    "busy_seconds",
    "width",
    "arguments",
    "output",
    "visits",
)
MEASUREMENT_COLUMNS = (*CONTRACT_COLUMNS, *FURTHER_MEASUREMENT_COLUMNS)

# samples/<study>/<kernel>.csv, one row a sample; throttled is yes where the clock was held back meanwhile.
SAMPLE_COLUMNS = (*ALL_POINT_COLUMNS, "visit", "sample", "time_us", "throttled")

# builds.csv, one row a variant. Registers a thread, shared memory and spills in bytes, occupancy the fraction of a
# multiprocessor's threads that fit at once.
BUILD_COLUMNS = (
    "study",
    "kernel",
    "platform",
    "block_size",
    "unroll",
    "dtype",
    "operation",
    "width",
    "arguments",
    "target",
    "status",
    "message",
    "registers",
    "shared_bytes",
    "spill_store_bytes",
    "spill_load_bytes",
    "occupancy",
    "binary_sha256",
)

# metrics.csv, one row a point and metric, in the contract's order. The columns that name a point have the same values
# as in measurements.csv; source is NCU or COUNTED. After the contract's columns:
#   message        why the value is empty, and what to do
#   binary_sha256  the variant's, which tells whether a time is of the same machine code
NCU, COUNTED = "ncu", "counted"  # by Nsight Compute on a GPU, and on the emulator
METRIC_COLUMNS = (
    "study",
    "kernel",
    "platform",
    *POINT_COLUMNS,
    "metric",
    "unit",
    "value",
    "source",
    *FURTHER_POINT_COLUMNS,
    "message",
    "binary_sha256",
)

# comparison.csv, one row a point that either of two sweeps has.
#   status_before, status_after    the point's status in either sweep; empty where it isn't in that one
#   time_before_us, time_after_us  medians, microseconds
#   ratio, low, high               after over before, and its 99% confidence interval
#   verdict                        faster, slower, same, undecided, or not_compared
#   note                           why it wasn't compared, or what else is to be known
#   flags_before, flags_after      as in measurements.csv
#   measured_before                when, where the journal tells (UTC)
#   source_before, source_after, binary_before, binary_after  SHA-256 of the source and of the variant's machine code
COMPARISON_COLUMNS = (
    "study",
    "kernel",
    *ALL_POINT_COLUMNS,
    "status_before",
    "status_after",
    "time_before_us",
    "time_after_us",
    "ratio",
    "low",
    "high",
    "verdict",
    "note",
    "flags_before",
    "flags_after",
    "measured_before",
    "source_before",
    "source_after",
    "binary_before",
    "binary_after",
)

# What the rows of a baseline on the host's processor are called among the kernels': cpu_numpy.
BASELINE_PREFIX = "cpu_"

# The driver's own ways to move memory, which show what it can do, and what their rows are called: limit_copy.
DRIVER_LIMITS = ("copy", "fill")
LIMIT_PREFIX = "limit_"
DRIVER_LIMIT_KERNELS = tuple(f"{LIMIT_PREFIX}{limit}" for limit in DRIVER_LIMITS)

# Columns whose values are numbers from 0 up, or empty, and the time's interval in order.
INTERVAL = ("time_low_us", "time_us", "time_high_us")
NUMBERS = (*INTERVAL, "noise", "bandwidth_gbs", "peak_fraction", "clock_mhz", *POINT_COLUMNS[:3])

STATUSES = ("ok", "wrong_result", "build_failed", "launch_failed", "timed_out", "out_of_memory", "skipped")

# Copied at once from file to file.
_COPIED_BYTES = 2**20

Row = dict[str, Any]


def time_columns(visits: Sequence[Sequence[float]], size: int, peak_bandwidth_gbs: float | None) -> Row:
    """The columns of a timed point.

    visits  the samples of each visit to it, microseconds
    size    the input's, bytes
    """
    summary = summarise_visits(visits)
    bandwidth = size / summary.median / 1e3
    return {
        "samples": sum(map(len, visits)),
        "time_us": f"{summary.median:.3f}",
        "time_low_us": f"{summary.low:.3f}",
        "time_high_us": f"{summary.high:.3f}",
        "noise": f"{summary.noise:.5f}",
        "bandwidth_gbs": f"{bandwidth:.3f}",
        "peak_fraction": f"{bandwidth / peak_bandwidth_gbs:.5f}" if peak_bandwidth_gbs else "",
        "visit_spread": "" if summary.spread is None else f"{summary.spread:.5f}",
        "visits": len(visits),
    }


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write `rows` as CSV with exactly `columns`; a missing value or None becomes an empty field.

    The file is there whole or not at all. Raises ValueError when a row has a key that is no column, naming it, and
    UserError where the file can't be written.
    """
    with _whole_file(Path(path)) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def join_files(path: str | Path, columns: Sequence[str], files: Iterable[str | Path]) -> None:
    """Write the rows of CSV files of exactly `columns`, as write_rows() leaves them, one after another as one file.

    Rows are copied without being looked into, so that ten million take no longer than to read and to write them, and no
    memory. The file is there whole or not at all. Raises UserError, naming the file, where one has other columns.
    """
    header = ",".join(columns).encode() + b"\n"
    with _whole_file(Path(path)) as part, open(part, "wb") as joined:
        joined.write(header)
        for name in files:
            with open(name, "rb") as file:
                if file.readline() != header:
                    raise UserError(f"{name} is of another version of kernelsweep. Delete it, to have it made again.")
                shutil.copyfileobj(file, joined, _COPIED_BYTES)


@contextlib.contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """A file to write to, which takes the name `path` when it is finished, and is gone where that fails."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(path)
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def each_row(path: str | Path) -> Iterator[dict[str, str]]:
    """The rows of a CSV file, plain or `.csv.gz`, as texts by column, one at a time: there may be millions of them.

    Lines that begin with # are comments. Raises UserError, naming file and line, for what is no such file, a row that
    lacks columns or has more of them than the header, and a value that its column can't have.
    """
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file.")
    opened = gzip.open if Path(path).suffix == ".gz" else open
    comments = 0

    def rows_of(file: Iterable[str]) -> Iterator[str]:
        nonlocal comments
        for line in file:
            if line.startswith("#"):
                comments += 1
            else:
                yield line

    try:
        with opened(path, "rt", newline="", encoding="utf-8") as file:
            reader = csv.DictReader(rows_of(file), strict=True)
            columns = reader.fieldnames or [""]
            if len(set(columns)) < len(columns):
                raise UserError(f"{path}: a column stands twice: {', '.join(columns)}. {AGAIN}")
            for row in reader:
                if row[columns[-1]] is None or None in row:
                    found = "more" if None in row else len([value for value in row.values() if value is not None])
                    problem: str | None = f"{found} columns instead of {len(columns)}"
                else:
                    problem = impossible(row)
                if problem:
                    raise UserError(f"{path}, line {reader.line_num + comments}: {problem}. {AGAIN}")
                yield row
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: can't be read: {error}. {AGAIN}") from error


def impossible(row: Mapping[str, str]) -> str | None:
    """What is wrong with a row's values, whatever its file; None if they can be."""
    numbers = {}
    for column in NUMBERS:
        if text := row.get(column):
            try:
                numbers[column] = finite(text)
            except ValueError:
                return f"{column} is {text[:100]!r}, where a number is needed"
            if numbers[column] < 0:
                return f"{column} is {text}. Allowed: numbers from 0 up"
    if "time_us" in row and "status" in row and row["status"] not in STATUSES:
        return f"status is {row['status'][:100]!r}. Allowed: {', '.join(STATUSES)}"
    low, time, high = (numbers.get(column) for column in INTERVAL)
    if low is not None and time is not None and high is not None and not low <= time <= high:
        return f"time_us {row['time_us']} lies outside its interval, {row['time_low_us']} to {row['time_high_us']}"
    return None


def finite(text: str) -> float:
    """The number in a text. Raises ValueError if it is none, NaN or infinite."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is no finite number")
    return number


def read_rows(path: str | Path) -> list[dict[str, str]]:
    """The same rows as a list."""
    return list(each_row(path))
