"""Recordings: every committed one is valid, and the message about a mistake has the file, the line and the remedy."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest
from checkout import ROOT

from kernelsweep.errors import UserError
from kernelsweep.judge.data.step_metrics import sources
from kernelsweep.judge.data.study_data import read_study_data
from kernelsweep.publish.share.recording import Environment, check_recording, recorded_device

RECORDINGS = sorted((ROOT / "resources/recordings").iterdir())
WITH_COUNTERS = ROOT / "resources/recordings/nvidia-h200"


@pytest.mark.parametrize("folder", RECORDINGS, ids=lambda folder: str(folder.name))
def test_every_recording_is_valid(folder: Path) -> None:
    check_recording(folder)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A valid recording of a few points, free to spoil."""
    folder = tmp_path / "small"
    folder.mkdir()
    shutil.copy(WITH_COUNTERS / "environment.json", folder)
    for name in ("measurements.csv.gz", "metrics.csv.gz"):
        lines = gzip.decompress((WITH_COUNTERS / name).read_bytes()).splitlines(keepends=True)
        (folder / name).write_bytes(gzip.compress(b"".join(lines[:40])))
    lines = (WITH_COUNTERS / "builds.csv").read_bytes().splitlines(keepends=True)
    (folder / "builds.csv").write_bytes(b"".join(lines[:10]))
    check_recording(folder)
    return folder


def in_packed(name: str, old: str, new: str) -> Callable[[Path], None]:
    """A mistake: a text replaced, once, in a packed table."""

    def spoil(folder: Path) -> None:
        text = gzip.decompress((folder / name).read_bytes()).decode()
        assert old in text
        (folder / name).write_bytes(gzip.compress(text.replace(old, new, 1).encode()))

    return spoil


def in_environment(change: Callable[[dict[str, object]], object]) -> Callable[[Path], None]:
    """A mistake in environment.json."""

    def spoil(folder: Path) -> None:
        environment = json.loads((folder / "environment.json").read_text())
        change(environment)
        (folder / "environment.json").write_text(json.dumps(environment, indent=1))

    return spoil


@pytest.mark.parametrize(("spoil", "expected"), [
    (in_environment(lambda it: it.pop("measured")), "measured: Field required"),
    (in_environment(lambda it: it["device"].update(kind="emulator")), "device.kind: Input should be 'gpu'"),
    (in_packed("measurements.csv.gz", ",ok,", ",fine,"), "status is 'fine'. Allowed: ok, "),
    (in_environment(lambda it: it.update(git_revision="/home/jane/kernelsweep")), "'/home/jane' may identify"),
    (in_environment(lambda it: it["host"].update(name="node-0042")), "'node-0042' may identify"),
])  # fmt: skip
def test_a_mistake_in_a_recording_is_told(small: Path, spoil: Callable[[Path], None], expected: str) -> None:
    spoil(small)
    with pytest.raises(UserError, match=r"small") as error:
        check_recording(small, private=["node-0042"])
    assert expected in str(error.value)


def test_a_study_tells_the_days_on_which_it_was_measured_and_profiled(small: Path) -> None:
    # Pins: counters with the date of a sweep that ran a day after them.
    run = {"git_revision": "abc", "device": "NVIDIA H200"}
    environment = json.loads((small / "environment.json").read_text()) | {
        "measured": "2026-01-03T10:00:00Z",
        "other_runs": [{"measured": "2026-01-01T10:00:00Z", "kernels": {"transpose": ["vectors"]}, **run}],
        "counters": [{"measured": "2026-01-02T10:00:00Z", "studies": ["unrolling"], **run}],
    }
    recorded = recorded_device(Environment(**environment), "small")
    assert recorded["title_of_all"] == "NVIDIA H200, recorded 2026-01-01 and 2026-01-03"
    (small / "device.json").write_text(json.dumps(recorded))
    settings, rows = {"published": None, "compares": "times"}, [small / "measurements.csv.gz"]
    devices = {
        study: read_study_data(study, {**settings, "kinds": {}}, rows, small / "device.json").device
        for study in ("unrolling", "transpose", "staged")
    }
    days = {study: device["provenance"].partition(" on NVIDIA H200 on ")[2][:10] for study, device in devices.items()}
    assert days == {"unrolling": "2026-01-03", "transpose": "2026-01-01", "staged": "2026-01-03"}
    counted = pandas.DataFrame({"source": ["ncu"]})
    assert sources(counted, devices["unrolling"]) == "Nsight Compute, 2026-01-02"
    assert sources(counted, devices["staged"]) == "Nsight Compute"


def test_results_are_recorded_as_written_in_the_document(small: Path, tmp_path: Path) -> None:
    # docs/recordings.md: from a platform's results to a recording, by the command that it gives.
    project = tmp_path / "project"
    shutil.copytree(ROOT / "workflow/scripts", project / "workflow/scripts")
    shutil.copytree(ROOT / "emulator/cuda_emulator", project / "emulator/cuda_emulator")
    results = project / "results/nvidia-h200"
    results.mkdir(parents=True)
    for name in ("measurements.csv", "metrics.csv"):
        (results / name).write_bytes(gzip.decompress((small / f"{name}.gz").read_bytes()))
    for name in ("builds.csv", "environment.json"):
        shutil.copy(small / name, results)
    (line,) = [line for line in (ROOT / "docs/recordings.md").read_text().splitlines() if "record.py results/" in line]
    command = line.strip().replace("uv run python", sys.executable).replace("<platform>", "nvidia-h200").split()
    run = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    recorded = project / "resources/recordings/nvidia-h200"
    for path in small.iterdir():
        assert (recorded / path.name).is_file()
    check_recording(recorded)
    # record.py already refuses results that would make an invalid recording, and names the fault.
    (results / "environment.json").write_text("{}")
    run = subprocess.run(command, cwd=project, capture_output=True, text=True)
    assert run.returncode != 0
    assert "measured: Field required" in run.stderr and "Traceback" not in run.stderr
