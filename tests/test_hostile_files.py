"""Files of results that were cut, edited or made up: each is refused with one sentence that names file and line."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.errors import UserError
from kernelsweep.results import CONTRACT_COLUMNS, read_rows
from kernelsweep.share.recording import check_content

POINT = {"array_size": 1024, "block_size": 64, "unroll": 1, "dtype": "int32", "operation": "sum", "cache": "cold"}
MEASURED = {
    "study": "toy",
    "kernel": "one",
    "platform": "nvidia-h200",
    "device": "H200",
    "status": "ok",
    "time_low_us": 1,
    "time_us": 2,
    "time_high_us": 3,
    **POINT,
}
DEVICE = {"platform": "p", "kind": "gpu", "name": "H200", "multiprocessors": 132, "provenance": "here"}


def table(path: Path, columns: tuple[str, ...], *rows: dict[str, Any]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


def assert_refused(read: Callable[[], object], *parts: str) -> None:
    """Reading raises one short message with these parts."""
    with pytest.raises(UserError) as error:
        read()
    message = str(error.value)
    assert len(message.splitlines()) <= 3 and "Traceback" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    "read", [lambda path: load_measurements([path]), read_rows], ids=["load_measurements", "read_rows"]
)
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("time_us", -1),
        ("time_us", "fast"),
        ("time_low_us", 2.5),
        ("status", "fine"),
    ],
)
def test_an_impossible_measurement(tmp_path: Path, read: Callable[[Path], object], column: str, value: object) -> None:
    path = table(tmp_path / "m.csv", CONTRACT_COLUMNS, MEASURED, {**MEASURED, "kernel": "two", column: value})
    assert_refused(lambda: read(path), "m.csv", "time" if column.startswith("time") else column)


@pytest.mark.parametrize("read", [lambda path: load_measurements([path]), read_rows])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("cut.csv.gz", gzip.compress(b"study,kernel\n" * 1000, mtime=0)[:60]),
        ("binary.csv", bytes(range(256))),
        ("long.csv", b"study,kernel\na,b,c\n"),
        ("quote.csv", b'study,kernel\n"a,b\n'),
    ],
)
def test_what_is_no_table(tmp_path: Path, read: Callable[[Path], object], name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert_refused(lambda: read(tmp_path / name), name)


def unpacked(path: Path) -> str:
    content = path.read_bytes()
    return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def write(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.mark.parametrize(
    ("file", "change", "part"),
    [
        ("environment.json", lambda text: text[: len(text) // 2], "not valid JSON"),
        ("environment.json", lambda text: text.replace('"kind": "gpu"', '"kind": "abacus"'), "device.kind is 'abacus'"),
        ("environment.json", lambda text: text.replace('"multiprocessors": 132', '"multiprocessors": -1'), "is -1"),
        ("builds.csv", lambda text: text.replace("registers", "spills", 1), "no column registers"),
        ("measurements.csv", lambda text: text + text.splitlines()[-1] + "\n", "stands twice"),
        ("measurements.csv", lambda text: text[: len(text) // 2], "line "),
        ("measurements.csv", lambda text: text.replace(",ok,", ",fine,", 1), "status is 'fine'"),
    ],
)
def test_an_impossible_recording(tmp_path: Path, file: str, change: Callable[[str], str], part: str) -> None:
    # The first rows of each table; test_recordings.py checks them all.
    for shipped in (ROOT / "resources/recordings/nvidia-h200").iterdir():
        rows = unpacked(shipped).splitlines(keepends=True)
        write(tmp_path / shipped.name, "".join(rows[:100] if ".csv" in shipped.suffixes else rows))
    check_content(tmp_path)
    path = tmp_path / (file if (tmp_path / file).exists() else f"{file}.gz")
    write(path, change(unpacked(path)))
    assert_refused(lambda: check_content(tmp_path), file, part)
