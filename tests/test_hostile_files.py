"""Files of results that were cut, edited or made up: each is refused with one sentence that names file and line."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT

from kernelsweep.base.json_files import read_json
from kernelsweep.device.description import read_device
from kernelsweep.device.outcome import Outcome, Timing, outcome_values, read_outcome
from kernelsweep.errors import UserError, in_a_line
from kernelsweep.judge.best.best_file import best_json, read_best
from kernelsweep.judge.best.find import Best, Configuration
from kernelsweep.judge.data.measurements import load_measurements
from kernelsweep.judge.data.proofs import read_proofs
from kernelsweep.project.new_study import start_study
from kernelsweep.publish.share.best_constants import constants_header
from kernelsweep.publish.share.recording import read_environment, unpack
from kernelsweep.results import CONTRACT_COLUMNS, PROOF_COLUMNS, read_rows, write_rows
from kernelsweep.study.captured import RECORD, read_capture
from kernelsweep.study.kernels.source import read_source
from kernelsweep.study.settings import parse_yaml, read_yaml

KNOWN = dict(study="toy", kernel="one", platform="p", status="ok", array_size="8", dtype="int32", operation="sum")
TIMES = dict(cache="cold", block_size="64", unroll="1", time_low_us="1", time_us="2", time_high_us="3")


def measured(**changed: str) -> bytes:
    """A table of one measurement."""
    values = {**KNOWN, **TIMES, **changed}
    columns = [*CONTRACT_COLUMNS, *(column for column in changed if column not in CONTRACT_COLUMNS)]
    row = ",".join(values.get(column, "") for column in columns)
    return f"{','.join(columns)}\n{row}\n".encode()


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
        ("line.csv.gz", gzip.compress(b"study," + bytes(2**24), mtime=0), "a line of"),
        ("1.csv", measured(time_us="-1"), "time"),
        ("2.csv", measured(time_us="fast"), "time"),
        ("3.csv", measured(time_low_us="2.5"), "time"),
        ("4.csv", measured(status="fine"), "status"),
        ("6.csv", measured(study="../../x"), "study"),
        ("7.csv", measured(kernel="a/b"), "kernel"),
        ("8.csv", measured(parameters="time_us=5"), "time_us=5"),
        ("9.csv", measured(parameters="tile"), "tile"),
        ("10.csv", measured(launches="99999999999999999999"), "launches"),
        ("11.csv", measured(error_share="nan"), "error_share"),
        ("12.csv", measured(work="bytes"), "work"),
        ("13.csv", measured(time_low_us=""), "time_us"),
        ("14.csv", measured(time_low_us="0"), "time_us"),
        ("5.csv", measured(array_size="1.5"), "5.csv, line 2: array_size is 1.5, where an integer is needed"),
    ],
)
def test_what_is_no_table_of_measurements(tmp_path: Path, name: str, content: bytes, part: str) -> None:
    (tmp_path / "right.csv").write_bytes(measured())
    assert len(read_rows(tmp_path / "right.csv")) == 1
    (tmp_path / name).write_bytes(content)
    assert_refused(lambda: read_rows(tmp_path / name), name, part)
    if part in ("", "a line of"):  # Values are checked row by row.
        assert_refused(lambda: load_measurements([tmp_path / name]), name)


# What a device may be called: a text that ends its comment, its literal or its line, or begins a macro's.
NAMES = [
    'H200\n#include <cstdlib>\nstatic const int evil = system("touch PWN");\n//',
    'H200";static const int evil=system("touch PWN");//',
    "H200\\",
    "H200??/",
    "H200\r\x0b\x0c\u2028static const int evil = 1;",
    'H200\\";int x=system("touch PWN");//',
]


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_a_recording_is_code_of_the_header(name: str, tmp_path: Path) -> None:
    parameters = {"block_size": 64, "operation": 'system("touch${IFS}PWN")', "dtype": "unsigned int"}
    fastest = Configuration(parameters, 2.0, 1.0, 3.0, None, None, None)
    point = {"cache": "cold", "array_size": 8}
    file = tmp_path / "best.json"
    file.write_text(best_json([Best("s", "k", False, point, 1, fastest, ())], [], ["s"], {"name": name}), "utf-8")
    header = constants_header(read_best(file), "s", point)
    assert "#define S_K_DTYPE unsigned int\n" in header
    (tmp_path / "best.h").write_text(header, encoding="utf-8")
    (tmp_path / "main.cpp").write_text(
        '#include <cstdio>\n#include "best.h"\n'
        "int main() { std::puts(kernelsweep::s::device); std::puts(S_K_OPERATION); }\n"
    )
    command = ["g++", "-std=c++14", "-Werror", "main.cpp", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    run = subprocess.run(["./main"], cwd=tmp_path, capture_output=True)
    assert run.stdout == f"{name}\n{parameters['operation']}\n".encode()
    assert not (tmp_path / "PWN").exists()
    document = json.loads(file.read_text("utf-8"))
    for key in ("device", "entries", "use", "schema_version"):
        file.write_text(json.dumps({**document, key: 5}), "utf-8")
        assert_refused(lambda: read_best(file), "best.json: ", f"{key}: Input")


@pytest.mark.parametrize("content", ["a bomb", "cut", "no archive"])
def test_what_is_no_table_of_a_recording_is_not_unpacked(tmp_path: Path, content: str) -> None:
    compressed = gzip.compress(bytes(200_000_000) if content == "a bomb" else b"a" * 999, 1)
    packed = tmp_path / "measurements.csv.gz"
    packed.write_bytes({"a bomb": compressed, "cut": compressed[:20], "no archive": b"a,b\n"}[content])
    assert_refused(lambda: unpack(packed, tmp_path / "measurements.csv"), "measurements.csv.gz")
    packed.unlink()
    os.mkfifo(packed)  # reading it would wait without end
    assert_refused(lambda: unpack(packed, tmp_path / "measurements.csv"), "no plain file")


@pytest.mark.parametrize("read", [read_json, lambda path: read_yaml(path, str(path)), read_source, read_capture])
def test_a_pipe_a_device_and_what_is_too_large_are_not_read(tmp_path: Path, read: Callable[[Path], object]) -> None:
    file = tmp_path / (RECORD if read is read_capture else "file")
    with file.open("wb") as sparse:
        sparse.truncate(2**40)
    assert_refused(lambda: read(tmp_path if read is read_capture else file), str(file), "more than")
    for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        file.unlink()
        make(file)
        assert_refused(lambda: read(tmp_path if read is read_capture else file), str(file), "no ")


@pytest.mark.parametrize(
    "changed",
    [
        *({"other_runs": 5}, {"other_runs": ["a"]}, {"other_runs": [{"measured": "2026"}]}, {"counters": {"a": 1}}),
        *({"counters": [{"measured": None, "studies": []}]}, {"configuration": {"studies": {}, "config": []}}),
        {"configuration": {"studies": {}, "config": {"studies": 5}}},
        # Pins: a page with such a day or a peak below 0, and edited kernels that were not named.
        *({"measured": "a\nb"}, {"counters": [{"measured": "", "studies": []}]}, {"kernel_codes": []}),
        *({"device": {"name": ""}}, {"device": {"multiprocessor_clock_mhz": -2.5}}),
        *({"device": {"compute_capability": ["9.0"]}}, {"device": {"provenance": "measured on another"}}),
        # Keys that are left out, and studies and kernels that only one of the keys has.
        *({"kernel_codes": None}, {"device": {"driver": None}}, {"device": {"kind": "recording"}}, {"countrs": []}),
        *({"kernel_codes": {"unrolling/unroled": "0" * 64}}, {"measured": "2026-13-01"}),
        {"counters": [{"measured": "2026-11-29", "device": "d", "git_revision": "r", "studies": ["unroling"]}]},
    ],
)
def test_an_environment_that_was_edited_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    recorded = json.loads((ROOT / "resources/recordings/nvidia-h200/environment.json").read_text())
    device = recorded["device"] | changed.get("device", {})
    edited = {**recorded, **changed, "device": device}
    left = {key: value for key, value in edited.items() if value is not None}
    (tmp_path / "environment.json").write_text(json.dumps(left))
    (tmp_path / "device.json").write_text(json.dumps(device))
    key = next(iter(changed.get("device", changed)))
    assert_refused(lambda: read_environment(tmp_path), "environment.json", key)
    if "device" in changed:
        assert_refused(lambda: read_device(tmp_path / "device.json"), "device.json", key)


RIGHT = json.loads(json.dumps(outcome_values(Outcome("ok", visits=[Timing([1.5, 2.0])]))))


@pytest.mark.parametrize(
    "changed",
    [
        *({"visits": None}, {"visits": [5]}, {"visits": [{"samples": ["fast"]}]}, {"visits": [{"samples": [-1.0]}]}),
        *({"visits": [{"samples": [float("nan")]}]}, {"error_share": "much"}, {"occupancy": []}, {"mistakes": [{}]}),
        *({"relative_error": {}}, {"bit_identical": "maybe"}, {"message": 5}, {"reason": "none of ours"}),
    ],
)
def test_an_outcome_that_was_edited_is_none(changed: dict[str, object]) -> None:
    assert outcome_values(read_outcome(RIGHT)) == outcome_values(Outcome("ok", visits=[Timing([1.5, 2.0])]))
    for edited in ({**RIGHT, **changed}, None, [], "ok", 5):
        with pytest.raises(ValueError, match=r"\w+: \w+|above 0"):
            read_outcome(edited)  # type: ignore[arg-type]


def test_a_message_of_any_text_fits_into_a_table(tmp_path: Path) -> None:
    for error in (UserError("\x01" * 90_000), KeyError("\x01" * 90_000), ValueError("x" * 2**21)):
        write_rows(tmp_path / "points.csv", ["message"], [{"message": in_a_line(error)}])
        assert len(read_rows(tmp_path / "points.csv")[0]["message"]) == 100_000


@pytest.mark.parametrize("kind", ["a file", "a dangling link", "a loop"])
def test_a_new_study_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    # Pins: a stack, and a first file that stays, so that the next try says "exists already"; a file outside the folder.
    monkeypatch.chdir(tmp_path)
    outside, study = tmp_path / "outside", Path("config/studies/axpy.yaml")
    study.parent.mkdir(parents=True)
    if kind == "a file":
        Path("kernels").touch()
        assert_refused(lambda: start_study(["axpy"]), "kernels/axpy/axpy.cu can't be written")
        assert not study.exists()
    elif kind == "a dangling link":
        study.symlink_to(outside)
        assert_refused(lambda: start_study(["axpy"]), "axpy.yaml exists already")
        assert not outside.exists() and study.is_symlink() and not Path("kernels").exists()
    else:
        Path("a.cu").symlink_to("a.cu")
        assert_refused(lambda: start_study(["axpy", "a.cu"]), "a.cu")


def test_proofs_whose_points_are_no_number_are_refused(tmp_path: Path) -> None:
    columns = PROOF_COLUMNS[:-2]
    for points, is_right in (("12", True), ("many", False)):
        row = dict.fromkeys(columns, "") | {"study": "s", "kernel": "k", "points": points}
        file = tmp_path / "proofs.csv"
        file.write_text(f"{','.join(columns)}\n{','.join(row.values())}\n")
        if is_right:
            assert [*read_proofs([file])] == [("s", "k")]
        else:
            assert_refused(lambda: read_proofs([file]), "proofs.csv, line 2: points is 'many'")  # noqa: B023


@pytest.mark.parametrize(
    "value", ["7", "0", "010", "1_0", "-3", "+3", "0x1f", "'12'", "١٢", "1e3", "1:30", "!!int '7'"]
)
def test_numbers_of_digits_are_read_as_yaml_says(value: str) -> None:
    assert parse_yaml(f"axis: [{value}, {value}]", "") == yaml.safe_load(f"axis: [{value}, {value}]")


def test_an_integer_that_is_a_list_is_refused_and_what_is_nested_deep() -> None:
    assert_refused(lambda: parse_yaml("!!int [1]", "study.yaml"), "study.yaml:1: ")
    for text in ("[" * 10**5, "- " * 10**5):  # LibYAML's reader ends the process.
        assert_refused(lambda text=text: parse_yaml(text, "study.yaml"), "study.yaml", "100 deep")
