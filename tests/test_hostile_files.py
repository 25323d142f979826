"""Files of results that were cut, edited or made up: each is refused with one sentence that names file and line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from kernelsweep.errors import UserError
from kernelsweep.judge.data.measurements import load_measurements
from kernelsweep.results import CONTRACT_COLUMNS, read_rows

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
        ("5.csv", measured(array_size="1.5"), "5.csv, line 2: array_size is 1.5, where an integer is needed"),
    ],
)
def test_what_is_no_table_of_measurements(tmp_path: Path, name: str, content: bytes, part: str) -> None:
    (tmp_path / "right.csv").write_bytes(measured())
    assert len(read_rows(tmp_path / "right.csv")) == 1
    (tmp_path / name).write_bytes(content)
    assert_refused(lambda: read_rows(tmp_path / name), name, part)
    if not part:  # Values are checked row by row.
        assert_refused(lambda: load_measurements([tmp_path / name]), name)
