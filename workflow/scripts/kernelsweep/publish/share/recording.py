"""Recordings: results that the repository keeps for readers without that hardware. Write them and check them."""

from __future__ import annotations

import gzip
import re
import time
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from kernelsweep.base.code_hash import sha256_of
from kernelsweep.base.json_files import AGAIN, read_json, read_record, write_json
from kernelsweep.device.description import GpuDevice, Line
from kernelsweep.device.names import RECORDED_FILE
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
_Time = Annotated[
    str,
    Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2}Z)?$"),
    AfterValidator(lambda text: text if datetime.fromisoformat(text) else ""),
]


class _Part(BaseModel):
    """An object of which readers need some keys."""

    model_config = ConfigDict(strict=True, frozen=True)


class _Whole(_Part):
    """An object with these keys and no other."""

    model_config = ConfigDict(extra="forbid")


class _Kernel(_Part):
    name: str


class _Study(_Part):
    kernels: list[_Kernel]


class _Config(_Part):
    studies: list[str]


class _Configuration(_Whole):
    studies: Mapping[str, _Study]
    config: _Config


class _Run(_Whole):
    """A run besides the one of most points: of some kernels of each study, or of the counters of studies."""

    measured: _Time
    device: Line
    git_revision: Line


class _OtherRun(_Run):
    kernels: Mapping[str, list[str]]


class _CountersRun(_Run):
    studies: list[str]


class Environment(_Whole):
    """A recording's environment.json."""

    measured: _Time
    git_revision: Line | None
    device: GpuDevice
    host: Mapping[str, str]
    packages: Mapping[str, str]
    profiler: Line | None
    configuration: _Configuration
    compilers: list[Line]
    kernel_codes: dict[str, Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]]
    other_runs: list[_OtherRun] = []
    counters: list[_CountersRun] = []

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Raise ValueError where one key tells of a study or a kernel, and another one doesn't."""
        studies = self.configuration.studies
        measured = {*self.configuration.config.studies}.union(*(run.kernels for run in self.other_runs))
        counted = {study for run in self.counters for study in run.studies}
        kernels = {f"{name}/{kernel.name}" for name, study in studies.items() for kernel in study.kernels}
        for key, differing in (
            ("configuration.studies", {*studies} ^ measured),
            ("counters", counted - measured),
            ("kernel_codes", {*self.kernel_codes} ^ kernels),
        ):
            if differing:
                raise ValueError(f"{key} and the other keys don't agree on {min(differing)!r}")
        return self


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

    read_environment(folder)
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


def read_environment(folder: Path) -> Environment:
    """A recording's environment.json. Raises UserError, with file and key, if it is none of a GPU's."""
    environment: Environment = read_record(folder / ENVIRONMENT, Environment)
    return environment


def recorded_device(environment: Environment, name: str) -> dict[str, Any]:
    """The device description of a recording, with a provenance that names the recording, and a title with its day.

    Under `by_study` are the keys that a study has of its own: `provenance` and `title` where it was measured in another
    run, and `profiled`, the days on which its counters were collected where that was another run. `title_of_all` has
    the days of all studies.
    """
    device = environment.device

    def texts(days: Iterable[str]) -> dict[str, str]:
        on, where = " and ".join(sorted(days)), f"resources/recordings/{name}"
        provenance = f"recorded on {device.name} on {on}, driver {device.driver} ({where})"
        return {"provenance": provenance, "title": f"{device.name}, recorded {on}"}

    day, in_this_run = environment.measured[:10], environment.configuration.config.studies
    of_others = _days((run.measured, run.kernels) for run in environment.other_runs)
    by_study = {study: texts({*days, day} if study in in_this_run else days) for study, days in of_others.items()}
    title_of_all = texts({day}.union(*of_others.values()))["title"]
    for study, days in _days((run.measured, run.studies) for run in environment.counters).items():
        by_study.setdefault(study, {})["profiled"] = " and ".join(sorted(days))
    return device.model_dump() | texts([day]) | {"by_study": by_study, "title_of_all": title_of_all}


def _days(runs: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """The days of runs by study, from each run's time and its studies."""
    days: dict[str, set[str]] = {}
    for measured, studies in runs:
        for study in studies:
            days.setdefault(study, set()).add(measured[:10])
    return days


def note_played(folder: Path, measurements: Path) -> None:
    """Note since when a folder of results has had a recording's measurements: to play them again changes none."""
    file, sha256 = folder / RECORDED_FILE, sha256_of(measurements)
    if not file.is_file():  # Played first, or last by an older version.
        write_json(file, {"sha256": sha256, "since": measurements.stat().st_mtime_ns})
    elif read_json(file).get("sha256") != sha256:
        write_json(file, {"sha256": sha256, "since": time.time_ns()})
