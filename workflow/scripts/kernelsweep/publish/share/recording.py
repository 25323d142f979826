"""Recordings: results that the repository keeps for readers without that hardware. Write them and check them."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import Field, TypeAdapter
from typing_extensions import TypedDict  # pydantic's, before Python 3.12

from kernelsweep.base.json_files import AGAIN, check_device, check_keys, checked, read_json
from kernelsweep.device.kinds import KINDS
from kernelsweep.errors import UserError
from kernelsweep.results import BUILD_COLUMNS, read_rows

# Every clone contains the recordings, so they are small; and so much they unpack to, at most.
LARGEST_BYTES, _LARGEST_UNPACKED = 2_000_000, 100_000_000

# A recording's tables; the last is there where the platform was profiled.
MEASUREMENTS, BUILDS, METRICS = TABLES = ("measurements.csv.gz", "builds.csv", "metrics.csv.gz")
ENVIRONMENT = "environment.json"

# A recording's name; config.yaml calls its platform recording/<name>.
NAME = re.compile(r"[A-Za-z0-9._-]+")

# A time such as 2026-11-29T08:50:47Z, or its day.
_Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d(T[\d:]+Z)?$")]


class _Configuration(TypedDict):
    studies: dict[str, Any]
    config: NotRequired[dict[str, Any]]


class _Run(TypedDict):
    measured: _Time


class _OtherRun(_Run):
    kernels: dict[str, list[str]] | list[str]


class _CountersRun(_Run):
    studies: list[str] | dict[str, Any]


class _Environment(TypedDict):
    """environment.json, as far as a reader needs it; its device is checked as each device.json is."""

    measured: _Time | None
    git_revision: str | None
    device: dict[str, Any]
    host: dict[str, Any]
    packages: dict[str, Any]
    configuration: _Configuration
    compilers: list[Any]
    kernel_codes: NotRequired[dict[str, str]]
    other_runs: NotRequired[list[_OtherRun]]
    counters: NotRequired[list[_CountersRun]]


# Texts that identify a user or a machine: home folders and e-mail addresses.
_PRIVATE = (
    re.compile(r"(?:/home/|/Users/|[A-Za-z]:\\+Users\\+)[^/\\\s\"',;:]+"),
    re.compile(r"/root/[^\s\"',;:]*"),
    re.compile(r"\b[\w.+-]{1,64}@[\w-]+\.[\w.-]+"),
)


def record(results: Path, folder: Path) -> int:
    """Keep a platform's results in `folder` and return the recording's size in bytes. Raises UserError."""
    packed = {}
    for name in (*TABLES, ENVIRONMENT):
        source = results / name.removesuffix(".gz")
        if source.is_file():
            content = source.read_bytes()
            packed[name] = gzip.compress(content, mtime=0) if name.endswith(".gz") else content
        elif name != METRICS:
            raise UserError(f"{source} is missing; complete `snakemake --cores 1 all` first")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / METRICS).unlink(missing_ok=True)
    for name, content in packed.items():
        (folder / name).write_bytes(content)
    return sum(map(len, packed.values()))


def check_recording(folder: Path, private: Iterable[str] = ()) -> None:
    """Raise UserError, with the file and the mistake, if a recording can't be drawn or contains private data.

    private  further forbidden words, such as the names of the machine and its user
    """
    name = f"resources/recordings/{folder.name}"
    if not NAME.fullmatch(folder.name):
        raise UserError(f"{name}: a recording's name has letters, digits, dots, hyphens and underscores only")
    files = sorted(folder.iterdir())
    if (size := sum(path.stat().st_size for path in files)) > LARGEST_BYTES:
        raise UserError(f"{name}: {size} bytes; a recording has at most {LARGEST_BYTES}")
    check_content(folder)
    for path in files:
        text = _text(path)
        # The slow search for a whole word is only for words that occur at all.
        patterns = [*_PRIVATE, *(re.compile(rf"\b{re.escape(word)}\b") for word in private if word in text)]
        for match in filter(None, (pattern.search(text) for pattern in patterns)):
            line = text.count("\n", 0, match.start()) + 1
            raise UserError(f"{name}/{path.name}, line {line}: {match[0]!r} may identify a person or machine.")


def check_content(folder: Path) -> None:
    """Raise UserError, with file and mistake, if a recording can't be drawn."""
    # These import pandas, for which each start of Snakemake would wait.
    from kernelsweep.judge.data.measurements import load_measurements
    from kernelsweep.judge.data.study_data import load_metrics

    check_environment(folder)
    load_measurements([folder / MEASUREMENTS])
    read_rows(folder / BUILDS, [column for column in BUILD_COLUMNS if column != "parameters"])
    if (folder / METRICS).is_file():
        load_metrics([folder / METRICS])


def unpack(packed: Path, file: Path) -> None:
    """Unpack a recording's table. Raises UserError where it is none, or too large."""
    shown = f"resources/recordings/{packed.parent.name}/{packed.name}"
    if not packed.is_file():
        raise UserError(f"{shown}: no plain file.")
    size = 0
    try:
        with gzip.open(packed) as source, file.open("wb") as target:
            while part := source.read(2**20):
                size += len(part)
                if size > _LARGEST_UNPACKED:
                    raise UserError(f"{shown}: more than {_LARGEST_UNPACKED:,} bytes, once unpacked. It was made up.")
                target.write(part)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{shown}: can't be unpacked: {error}. {AGAIN}") from error


def _text(path: Path) -> str:
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            return file.read(_LARGEST_UNPACKED).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise UserError(f"resources/recordings/{path.parent.name}/{path.name}: can't be read: {error}") from error


def check_environment(folder: Path) -> None:
    """Raise UserError, with file and key, if a recording's environment.json is none, or its device has no clock."""
    file = f"resources/recordings/{folder.name}/{ENVIRONMENT}"
    environment = checked(read_json(folder / ENVIRONMENT), TypeAdapter(_Environment), file, strict=True)
    studies = environment["configuration"].get("config", {}).get("studies", [])
    checked(studies, TypeAdapter(list[str]), f"{file}: configuration.config.studies")
    device = environment["device"]
    check_device(device, file)
    check_keys(device, {"peak_bandwidth_gbs": (int, float, type(None)), "driver": (str, type(None))}, file)
    timed = [name for name, kind in KINDS.items() if kind.has_clock]
    if device["kind"] not in timed:
        raise UserError(
            f"{file}: device.kind is {device['kind']!r}. Recordings need times. Allowed: {', '.join(timed)}"
        )


def recorded_device(environment: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The device description of a recording, with a provenance that names the recording.

    Under `by_study` are the keys that a study has of its own: `provenance` where it was measured in another run, and
    `profiled`, the days on which its counters were collected where that was another run.
    """
    device = dict(environment["device"])

    def provenance(days: Iterable[str]) -> str:
        where = f"resources/recordings/{name}"
        return f"recorded on {device['name']} on {' and '.join(sorted(days))}, driver {device['driver']} ({where})"

    day = (environment["measured"] or "unknown")[:10]
    in_this_run = environment["configuration"].get("config", {}).get("studies", ())
    measured = _days(environment.get("other_runs", ()), "kernels")
    by_study: dict[str, dict[str, str]] = {
        study: {"provenance": provenance({*days, day} if study in in_this_run else days)}
        for study, days in measured.items()
    }
    for study, days in _days(environment.get("counters", ()), "studies").items():
        by_study.setdefault(study, {})["profiled"] = " and ".join(sorted(days))
    return device | {"provenance": provenance([day]), "by_study": by_study}


def _days(runs: Iterable[Mapping[str, Any]], key: str) -> dict[str, set[str]]:
    """The days of runs by the studies that stand under a key of theirs."""
    days: dict[str, set[str]] = {}
    for run in runs:
        for study in run[key]:
            days.setdefault(study, set()).add(run["measured"][:10])
    return days
