"""Files of results that were cut, edited or made up: each is refused with one sentence that names file and line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from checkout import ROOT

from kernelsweep.analysis.measurements import load_measurements
from kernelsweep.errors import UserError
from kernelsweep.results import CONTRACT_COLUMNS, read_rows
from kernelsweep.share.recording import check_content

KNOWN = dict(study="toy", kernel="one", platform="p", status="ok", array_size="8", dtype="int32", operation="sum")
TIMES = dict(cache="cold", block_size="64", unroll="1", time_low_us="1", time_us="2", time_high_us="3")


def measured(**changed: str) -> bytes:
    """A table of one measurement."""
    values = {**KNOWN, **TIMES, **changed}
    row = ",".join(values.get(column, "") for column in CONTRACT_COLUMNS)
    return f"{','.join(CONTRACT_COLUMNS)}\n{row}\n".encode()


def assert_refused(read: Callable[[], object], *parts: str) -> None:
    """Reading raises one short message with these parts."""
    with pytest.raises(UserError) as error:
        read()
    message = str(error.value)
    assert len(message.splitlines()) <= 3 and "Traceback" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("cut.csv.gz", gzip.compress(b"study,kernel\n" * 1000, mtime=0)[:60], ""),
        ("binary.csv", bytes(range(256)), ""),
        ("long.csv", b"study,kernel\na,b,c\n", ""),
        ("quote.csv", b'study,kernel\n"a,b\n', ""),
        ("1.csv", measured(time_us="-1"), "time"),
        ("2.csv", measured(time_us="fast"), "time"),
        ("3.csv", measured(time_low_us="2.5"), "time"),
        ("4.csv", measured(status="fine"), "status"),
    ],
)
def test_what_is_no_table_of_measurements(tmp_path: Path, name: str, content: bytes, part: str) -> None:
    (tmp_path / "right.csv").write_bytes(measured())
    assert len(read_rows(tmp_path / "right.csv")) == 1
    (tmp_path / name).write_bytes(content)
    assert_refused(lambda: read_rows(tmp_path / name), name, part)
    if not part:  # Values are checked row by row.
        assert_refused(lambda: load_measurements([tmp_path / name]), name)


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
        ("measurements.csv", lambda text: text + text.splitlines()[-1] + "\n", "is there twice"),
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
