"""The columns of the result files, and reading and writing their rows. Users' scripts depend on this format."""

from __future__ import annotations

import contextlib
import csv
import gzip
import math
import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from kernelsweep.base.json_files import AGAIN
from kernelsweep.errors import UserError, unwritable
from kernelsweep.statistics import summarise_visits


def _columns(described: str) -> tuple[str, ...]:
    """The columns that a description names: at its lines' beginnings, before two blanks and their meaning."""
    lines = (line for line in described.splitlines() if line and not line.startswith(" "))
    return tuple(name for line in lines for name in line.partition("  ")[0].split())


# The columns that identify a point: a variant at one array size and cache state. A column is empty where a study has no
# such axis.
POINT_COLUMNS = _columns("array_size block_size unroll dtype operation cache")
FURTHER_POINT_COLUMNS = _columns("""
grid_size   an axis only for kernels whose launch plan leaves the number of blocks to the sweep
width       an exchange's lanes of a group
arguments   an exchange's
parameters  the axes that have no column, as "tile_size_x=4 tile_size_y=8"
""")
ALL_POINT_COLUMNS = (*POINT_COLUMNS, *FURTHER_POINT_COLUMNS)
# The integer columns; those in POINT_INTEGERS have a value in every row.
POINT_INTEGERS = ("array_size", "block_size", "unroll")
FURTHER_POINT_INTEGERS = ("grid_size", "width")

# measurements.csv, one row a point. First the columns that stay in this order, since users' scripts read them.
CONTRACT_COLUMNS = _columns("""
study kernel platform device array_size block_size unroll dtype operation cache launches grid_size status message
samples
time_us                   median over the samples, microseconds
time_low_us time_high_us  95% confidence interval of that median, widened to span the visits' medians; in
                          measurements.csv, by how processes scatter, too
noise                     interquartile range over the median, a fraction
bandwidth_gbs             10^9 bytes a second, with each input byte counted once
peak_fraction             bandwidth over the memory's theoretical peak; where the problem's work names a kind of
                          arithmetic, the larger one of that and of gflops over the arithmetic's peak
clock_mhz                 the multiprocessors' lowest clock while sampling
flags                     remarks, separated by spaces:
                            noisy                a visit reached its sample or time limit before the precision
                            imprecise            the final interval, which spans the visits, reaches further from the
                                                 median than measuring.relative_precision
                            undefined_behaviour  the kernel's, so that no result is right
                            throttled            a visit could not be measured at the full clock
                            once_wrong           an earlier run of the same code with the same settings was wrong, as
                                                 the message says
                            runs_again           the point failed, maybe by the machine's fault: the next command runs
                                                 it again, unless it has failed twice in the same words
                            set_clocks           the clock was held by a setting of the user's (nvidia-smi -lgc)
                            other_processes      other processes used the GPU
                            proof_failed         the proof found a mistake in the kernel (proofs.csv)
                            partial_barrier      on the emulator: threads passed a barrier only because others of their
                                                 block had ended
                            leaves_state         a run leaves something in a __device__ variable; each sample finds the
                                                 variables as the binary has them
                            graph                more than 300 launches, timed as one CUDA graph, which starts each of
                                                 them sooner than a stream does
source_sha256             of the kernel's file and what it includes, as they were read for this row; an edit of a
                          comment alone makes no new row
binary_sha256
""")
# Then columns that are empty or missing in results of earlier versions.
FURTHER_MEASUREMENT_COLUMNS = _columns("""
relative_error            of a floating-point sum, relative to the exactly rounded one (math.fsum)
bit_identical             whether repeated runs of a floating-point point gave the same bits: yes or no
visit_spread              repeatability: the visits' largest median minus the smallest, over the median
temperature_c power_w     the GPU's highest temperature while sampling, and its board's power; on some GPUs an
                          average over about a second, which includes earlier points
throttle_reasons          why the clock was reduced during samples; they matter only if flags has throttled
device_uuid               the GPU's: two of one model may differ by a percent
seconds busy_seconds      the duration of the visits, including checks, and the GPU's busy time in it
width arguments output    an exchange's: lanes of a group, its arguments, and up to 32 elements of its result
visits                    the number of visits behind the time
parameters                the point's axes that have no column of their own
gflops                    10^9 floating-point operations a second, where the problem's work names flops
peak_of                   the peak that peak_fraction is a share of: memory, or a kind of arithmetic; empty: memory
error_share               the largest error of floats as a share of what error_bound allows
compiler                  the release of the compiler
power_limit_w clock_limit_mhz
                          limits of the GPU that may have been set: the board's power, and the clock of the
                          multiprocessors for applications
work                      of a timed point: the counts of one run as the problem's work names them, such as
                          "bytes=4096 flops=1024 arithmetic=float32"
identity_sha256           of the identity that the point's visits share (sweep/identity.py): it names their lines in
                          the journal
reason                    why the status is what it is, where that alone says too little (reasons.py); empty else
""")
MEASUREMENT_COLUMNS = (*CONTRACT_COLUMNS, *FURTHER_MEASUREMENT_COLUMNS)

# samples/<study>/<kernel>.csv, one row a sample; throttled is yes if the clock was reduced during the sample.
SAMPLE_COLUMNS = (*ALL_POINT_COLUMNS, "visit", "sample", "time_us", "throttled")

# builds.csv, one row a variant.
BUILD_COLUMNS = _columns("""
study kernel platform block_size unroll dtype operation width arguments parameters target status message
registers                                         a thread's
shared_bytes spill_store_bytes spill_load_bytes
occupancy                                         the fraction of a multiprocessor's threads that fit at once
binary_sha256
""")

# proofs.csv, one row a variant and check.
PROOF_COLUMNS = _columns("""
study kernel
variant        C++ name; empty for a kernel of which no variant was checked
check          one of CHECKS
tool           emulator, or compute-sanitizer's
points         the number of points that were checked
finding        empty: nothing was found; NOT_CHECKED; OTHER_CODE; one of NOTES; else race, uninitialised,
               out_of_bounds, barrier, ORDER, a point's status, or compute-sanitizer's words
message        the first finding, with its point and lines; why nothing was checked, or not all
expected       the undefined behaviour that the study declares; of a note, the reason acknowledged for it
source_sha256  as in measurements.csv
point          of the message, as "array_size=4096 block_size=128 unroll=2"; empty where it has none
reason         why nothing was checked, where a tool failed, or the kernel was never run (reasons.py); empty else
""")
CHECKS = ("result", "races", "bounds", "uninitialised", "barriers")
NOT_CHECKED = "not_checked"
# Not all that the emulator ran is the code that a GPU runs. Also the key of the lines in the report on a build.
OTHER_CODE = "other_code"
# Findings that decide nothing: two writes of one value; a plain read beside atomic functions, or one of uninitialised
# memory, that no result depends on; warps that wait at several barriers at once, or have ended before others'
# barrier; a bulk copy whose barrier no fence has shown to the asynchronous proxy.
SAME_VALUE = "same_value"
UNORDERED_READ = "unordered_read"
INDIFFERENT_READ = "indifferent_read"
OTHER_BARRIER = "other_barrier"
PARTIAL_BARRIER = "partial_barrier"
UNFENCED_BARRIER = "unfenced_barrier"
ORDER = "order"  # Results that nobody judges depend on the order of threads.
NOTES = (SAME_VALUE, UNORDERED_READ, INDIFFERENT_READ, OTHER_BARRIER, PARTIAL_BARRIER, UNFENCED_BARRIER)
# Begins the message of a point that is wrong only for an access out of bounds.
VALUES_RIGHT = "the values are right, but "
PROOF_FAILED = "proof_failed"  # the flag
# A flag that no file has: a recording's row whose kernel was edited since.
EDITED = "recorded_before_edit"

# metrics.csv, one row a point and metric, in the contract's order. The columns that name a point have the same values
# as in measurements.csv.
NCU, COUNTED = "ncu", "counted"  # by Nsight Compute on a GPU, and on the emulator
METRIC_COLUMNS = _columns("""
study kernel platform array_size block_size unroll dtype operation cache metric unit value
source         NCU or COUNTED
grid_size width arguments parameters
message        why the value is empty, and what to do
binary_sha256  the variant's, which tells whether a time is of the same machine code
""")

# comparison.csv, one row a point that either of two sweeps has.
COMPARISON_COLUMNS = _columns("""
study kernel array_size block_size unroll dtype operation cache grid_size width arguments parameters
status_before status_after    the point's status in each sweep; empty if the sweep lacks the point
time_before_us time_after_us  medians, microseconds
ratio low high                after over before, and its 99% confidence interval
verdict                       faster, slower, same, undecided, or not_compared
note                          the reason why it wasn't compared, or a remark
flags_before flags_after      as in measurements.csv
measured_before               the time of the earlier measurement (UTC), if a journal has it
source_before source_after binary_before binary_after
                              SHA-256 of the source and of the variant's machine code
""")

# claims.csv, one row a claim.
CLAIM_COLUMNS = _columns("""
study claim source source_device
published          the source's value: a number, or an output's elements
measured low high  the measured quantity with its 95% interval; empty if there is none
verdict            one of judge.claims.claim.CLAIM_VERDICTS; of SOME_SIZES the sizes: "holds at 2¹⁶ to 2²⁴, not at 2²⁸"
id
kernel at reference_kernel reference_at
                   both sides, and their values on axes
quantity relation tolerance
message            the reason for a missing quantity, or a remark on the quantity
kind               direction, amount or output
code               empty if the source prints both sides' code; "ours", a side is a form of our own; "not printed", the
                   source describes it; "our reading", the source names it
elsewhere          the other sizes, and cache states, of the sweep with another verdict: "not at 2¹⁶; hot: not at 2¹⁸"
cause              why it does not hold, or not at every size that it is about
sizes_held         of a speedup, at how many of the sweep's sizes it holds: 4 of 5
size fails_at      the size at which it was judged, "every" if it is about that; of a speedup, those at which it fails
""")

# The driver's memory operations that are measured as limits, and their prefix in the column `kernel`: limit_copy.
DRIVER_LIMITS = ("copy", "fill")
LIMIT_PREFIX = "limit_"

# The columns of numbers, in any file; a value may be missing.
INTERVAL = ("time_low_us", "time_us", "time_high_us")
TIME_DIGITS = 3  # behind the point: the timer's steps are 0.032 us
_OF_TIMES = (*INTERVAL, "noise", "bandwidth_gbs", "peak_fraction", "clock_mhz")
FLOATS = (*_OF_TIMES, "relative_error", "gflops", "error_share")
INTEGERS = (*POINT_INTEGERS, *FURTHER_POINT_INTEGERS, "launches", "samples")
_WHOLE, _FROM_ZERO = frozenset(INTEGERS), frozenset([*POINT_INTEGERS, *_OF_TIMES])

# Longer messages are cut: readers need the first line of a compiler's message, not its pages.
MESSAGE_LENGTH = 200

STATUSES = _columns("ok wrong_result build_failed launch_failed timed_out out_of_memory implausible skipped")

Row = dict[str, Any]

# Some rows of a file: their texts by column.
Table = Mapping[str, Sequence[str]]

# Characters between the axes in the column parameters, and between an axis and its value.
_BETWEEN_AXES, _IS = " ", "="


def point_columns(point: Mapping[str, Any]) -> Row:
    """The columns that identify a point, from its value on each axis."""
    # Every point of a shipped problem has an operation. In a study of one's own, `width` is an axis like any other.
    is_shipped = "operation" in point and set(point) <= set(ALL_POINT_COLUMNS)
    with_column = ALL_POINT_COLUMNS if is_shipped else POINT_COLUMNS
    own = [f"{axis}{_IS}{value}" for axis, value in point.items() if axis not in with_column]
    columns = {axis: value for axis, value in point.items() if axis in with_column}
    return {**columns, "parameters": _BETWEEN_AXES.join(own)}


def read_parameters(text: str) -> dict[str, str]:
    """The axes in a value of the column parameters, with their values as texts."""
    return dict(word.split(_IS, 1) for word in text.split(_BETWEEN_AXES) if word)


def with_parameters(row: Mapping[str, str]) -> Row:
    """A row with its axes in the column parameters as columns, too."""
    return {**row, **read_parameters(row.get("parameters") or "")}


def arithmetic_of(row: Mapping[Any, Any]) -> str | None:
    """The kind of arithmetic of a row's work; None where it names none."""
    return read_parameters(row["work"]).get("arithmetic")


def time_columns(visits: Sequence[Sequence[float]], work: Mapping[str, float], peak_bandwidth_gbs: float | None) -> Row:
    """The columns of a timed point.

    visits  the samples of each visit to it, microseconds
    work    the work of one run, by unit: bytes and flops are known
    """
    summary = summarise_visits(visits)
    bandwidth = work["bytes"] / summary.median / 1e3 if "bytes" in work else None
    return {
        "samples": sum(map(len, visits)),
        "time_us": f"{summary.median:.{TIME_DIGITS}f}",
        "time_low_us": f"{summary.low:.{TIME_DIGITS}f}",
        "time_high_us": f"{summary.high:.{TIME_DIGITS}f}",
        "noise": f"{summary.noise:.5f}",
        "bandwidth_gbs": "" if bandwidth is None else f"{bandwidth:.3f}",
        "peak_fraction": f"{bandwidth / peak_bandwidth_gbs:.5f}" if bandwidth and peak_bandwidth_gbs else "",
        "gflops": f"{work['flops'] / summary.median / 1e3:.3f}" if "flops" in work else "",
        "visit_spread": "" if summary.spread is None else f"{summary.spread:.5f}",
        "visits": len(visits),
    }


def is_imprecise(times: Mapping[str, Any], relative_precision: float) -> bool:
    """Whether the interval in a row's time_columns() reaches further from the median than this fraction of it."""
    low, median, high = (float(times[column]) for column in INTERVAL)
    return max(high - median, median - low) > relative_precision * median


def write_rows(path: str | Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write `rows` as write_tables() does, in four times as long; a missing value or None becomes an empty field."""
    write_tables(path, columns, ({name: [value] for name, value in row.items()} for row in rows))


def write_tables(path: str | Path, columns: Sequence[str], tables: Iterable[Table]) -> None:
    """Write the rows of tables as CSV with exactly `columns`.

    The file is complete or doesn't exist. Raises ValueError for a key that is not a column, and UserError if the file
    can't be written.
    """
    with _whole_file(Path(path)) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        for table in tables:
            if unknown := table.keys() - {*columns}:
                raise ValueError(f"{path} has no column {', '.join(unknown)}")
            missing = [""] * len(next(iter(table.values())))
            writer.writerows(zip(*(table.get(name, missing) for name in columns), strict=True))


@contextlib.contextmanager
def _whole_file(path: Path) -> Iterator[Path]:
    """A file to write to, which is renamed to `path` at the end, or deleted after an error."""
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


# More than a sweep of a million points has, in characters; and than a row has.
_LARGEST_TABLE, _LONGEST_LINE = 2**31, 2**20

# So many rows are read at once, because their texts fit into a processor's cache: 5,000 take three times as long.
_ROWS_AT_ONCE = 200


def each_row(path: str | Path, needed: Sequence[str] = (), numbers: Sequence[str] = ()) -> Iterator[dict[str, str]]:
    """The rows of each_table(), one at a time: texts by column."""
    return rows_in(each_table(path, needed, numbers))


def rows_in(tables: Iterable[Table]) -> Iterator[dict[str, str]]:
    """The rows of tables, one at a time: texts by column."""
    known = dict[str, str]()  # Most texts are the same in most rows: memory has each once.
    for table in tables:
        texts = [texts if name in FLOATS else map(known.setdefault, texts, texts) for name, texts in table.items()]
        for values in zip(*texts, strict=True):
            yield dict(zip(table, values, strict=True))


def each_table(
    path: str | Path, needed: Sequence[str] = (), numbers: Sequence[str] = (), studies: Collection[str] = ()
) -> Iterator[Table]:
    """The rows of a CSV file, plain or `.csv.gz`, some hundred at a time: there may be millions of them.

    needed   columns that it must have
    numbers  its columns of numbers besides INTEGERS and FLOATS
    studies  whose rows are kept, from the column study; of none, all rows are

    Lines that begin with # are comments. Raises UserError, naming file and line, for another kind of file, a row
    with fewer or more columns than the header, and a value that its column can't have: whatever is read is a number,
    where numbers belong, or empty.
    """
    if not Path(path).is_file():
        raise UserError(f"{path}: {'a folder' if Path(path).is_dir() else 'no such file'}.")
    opened = gzip.open if Path(path).suffix == ".gz" else open
    comments = 0

    def rows_of(file: IO[str]) -> Iterator[str]:
        nonlocal comments
        left = _LARGEST_TABLE
        while line := file.readline(_LONGEST_LINE):
            left -= len(line)
            if left < 0 or len(line) == _LONGEST_LINE:
                raise UserError(
                    f"{path}: a line of {_LONGEST_LINE:,} characters, or {_LARGEST_TABLE:,} in all. {AGAIN}"
                )
            if line.startswith("#"):
                comments += 1
            else:
                yield line

    try:
        with opened(path, "rt", newline="", encoding="utf-8") as file:
            reader = csv.reader(rows_of(file), strict=True)
            columns = next(reader, [])
            if len(set(columns)) < len(columns):
                raise UserError(f"{path}: a column stands twice: {', '.join(columns)}. {AGAIN}")
            if missing := [column for column in needed if column not in columns]:
                raise UserError(f"{path}: no column {', '.join(missing)}; expected {', '.join(needed)}")
            place = columns.index("study") if studies else None
            rows = list[tuple[int, list[str]]]()
            for values in reader:
                line = reader.line_num + comments
                if values and len(values) != len(columns):
                    found = "more" if len(values) > len(columns) else len(values)
                    raise UserError(f"{path}, line {line}: {found} columns instead of {len(columns)}. {AGAIN}")
                if values and (place is None or values[place] in studies):
                    rows.append((line, values))
                if len(rows) == _ROWS_AT_ONCE:
                    yield _checked(columns, rows, numbers, path)
                    rows = []
            if rows:
                yield _checked(columns, rows, numbers, path)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: can't be read: {error}. {AGAIN}") from error


def _checked(
    columns: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], numbers: Sequence[str], path: str | Path
) -> Table:
    """Rows of a file, each with its line, as a table. Raises UserError for a value that its column can't have."""
    table = dict(zip(columns, zip(*(values for _, values in rows), strict=True), strict=True))
    has_times, problems = {"status", *INTERVAL} <= {*columns}, list[tuple[int, str]]()
    for column, texts in table.items():
        is_number = column in INTEGERS or column in FLOATS or column in numbers
        for text in dict.fromkeys(texts) if is_number or column in _CHECKED else ():
            if problem := _no_number(column, text) if is_number else _no_text(column, text, has_times):
                problems.append((texts.index(text), problem))
    if has_times:
        for place, (low, time, high) in enumerate(zip(*(table[column] for column in INTERVAL), strict=True)):
            if not problems and time and not (low and high and 0 < float(low) <= float(time) <= float(high)):
                interval = f"{low or 'nothing'} to {high or 'nothing'}"
                problems.append((place, f"time_us is {time}, which lies outside its interval, {interval}"))
    for place, problem in sorted(problems):
        raise UserError(f"{path}, line {rows[place][0]}: {problem}. {AGAIN}")
    return table


def _no_number(column: str, text: str) -> str | None:
    try:
        number = float(text or 0)
    except ValueError:
        return f"{column} is {text[:100]!r}, where a number is needed"
    if math.isnan(number) or (column in _WHOLE and not (number.is_integer() and abs(number) < 2**53)):
        return f"{column} is {text}, where {'an integer' if column in _WHOLE else 'a number'} is needed"
    if not 0 <= number < math.inf and column in _FROM_ZERO:
        return f"{column} is {text}. Allowed: numbers from 0 up"
    return None


_CHECKED = ("study", "kernel", "parameters", "status", "work")


def _no_text(column: str, text: str, has_times: bool) -> str | None:
    if column in ("study", "kernel"):  # which name files
        return f"{column} is {text[:100]!r}, which is no name" if "/" in text or text.startswith(".") else None
    if has_times and column == "status" and text not in STATUSES:
        return f"status is {text[:100]!r}. Allowed: {', '.join(STATUSES)}"
    for word in text.split() if has_times and column != "status" else ():
        name, is_axis, _ = word.partition(_IS)
        if column == "work" and not is_axis:
            return f"work is {text[:100]!r}. Allowed: counts by name, as bytes=4096"
        if column == "parameters" and (not is_axis or not name.isidentifier() or name in CONTRACT_COLUMNS):
            return f"parameters has {word[:100]!r}. Allowed: axes of the study's own, as tile_size_x=4"
    return None


def finite(text: str) -> float:
    """The number in a text. Raises ValueError if it is none, NaN or infinite."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text!r} is no finite number")
    return number


def number_or_text(text: str) -> int | float | str:
    """The number that a text is, or the text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def read_rows(path: str | Path, needed: Sequence[str] = ()) -> list[dict[str, str]]:
    """The rows of each_row() as a list."""
    return list(each_row(path, needed))
