"""The history of kernels: which version of a source was fastest, which became slower, and what the journal keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT
from journal_lines import add_visit, identity

from kernelsweep.analysis.places import place_axes
from kernelsweep.errors import UserError
from kernelsweep.judge.bisect import Commit, first_bad
from kernelsweep.judge.history.report import headline, history_rows, history_text
from kernelsweep.judge.history.versions import BROKEN, Version, judged, kernel_versions
from kernelsweep.judge.records import read_records
from kernelsweep.measure.identity import identity_sha256
from kernelsweep.measure.journal import Journal, read_lines
from kernelsweep.measure.outcome import Outcome, Visit
from kernelsweep.measure.pairs import FASTER, SAME, SLOWER
from kernelsweep.measure.work import Recorder
from kernelsweep.project.project import load_project
from kernelsweep.sweep.config_file import study_names

PLACE = {"array_size": 2**20, "cache": "cold"}
HOSTILE_SAMPLES = ([], ["1"], [0], [-1.0], [float("nan")], [True])


def swept(
    path: Path, day: int, source: str, times_us: dict[int, float | str], binary: str = "", **settings: str
) -> None:
    """Add a day's sweep to a journal: three visits to each block size with a time, and a status for the others.

    binary  of which the machine code is; the source's own by default
    """
    points, date = [], f"2026-11-{day:02}T10:00:00Z"
    with Journal(path) as journal:
        for block_size, us in times_us.items():
            of = identity({**PLACE, "block_size": block_size}, f"{binary or source} {block_size}", settings)
            if isinstance(us, str):
                points.append({"status": us, "point": of["point"]})
                continue
            for visit in range(3):
                add_visit(journal, of, visit, [us + step / 1e3 + visit / 1e2 for step in range(9)], source, date)
            points.append({"status": "ok", "identity": identity_sha256(of)})
        found = {"source_sha256": source, "points": points}
        journal.add(
            "sweep", {"measured": date, "revision": f"{day:040}" + ("-dirty" if day % 2 else ""), "sweep": found}
        )


def versions_of(path: Path) -> list[Version]:
    """The judged versions of a journal's kernel s/k."""
    return judged(kernel_versions("s/k", read_records([path]), PLACE), 0.005)


@pytest.fixture
def versions(tmp_path: Path) -> list[Version]:
    """Four versions: the second is slower, the third has another block size's code, the fourth is taken back."""
    path, other = tmp_path / "k.jsonl", tmp_path / "other.jsonl"
    swept(path, 1, "first", {64: 110.0, 128: 100.0})
    swept(path, 2, "second", {64: 112.0, 128: 105.0})
    swept(path, 3, "third", {64: 108.0, 128: 105.0}, binary="second")
    swept(path, 4, "fourth", {64: 120.0, 128: 100.0})
    swept(path, 5, "third", {64: 108.0, 128: 105.0}, binary="second")
    swept(other, 1, "x", {64: 5.0})
    found = [
        *kernel_versions("s/k", read_records([path]), PLACE),
        *kernel_versions("s/other", read_records([other]), PLACE),
    ]
    return judged(found, 0.005)


def test_each_version_has_its_best_time_and_the_slower_ones_are_marked(versions: Sequence[Version]) -> None:
    of_k = [version for version in versions if version.kernel == "s/k"]
    assert [version.source for version in of_k] == ["first", "second", "third", "fourth", "third"]
    assert [float(version.row["time_us"]) for version in of_k] == pytest.approx([100, 105, 105, 100, 105], abs=0.1)
    assert {version.point["block_size"] for version in of_k} == {128}
    assert [version.verdict for version in of_k] == ["", SLOWER, SAME, FASTER, SLOWER]
    assert [version.label for version in of_k] == ["0000000*", "0000000", "0000000*", "0000000", "0000000*"]
    said = (
        "Slower than the version before: s/k (1.050 times the time, 0000000*). Kernels with several versions: 1 of 2."
    )
    assert headline(versions) == said
    assert headline(of_k[:4]) == "None is slower. Kernels with several versions: 1 of 1."
    text = re.sub(r" +", " ", history_text(versions, "on a GPU", {"s": PLACE}))
    assert text.count("**slower**") == 2 and "| k | 0000000 | 2026-11-02 | 105.0" in text and "block_size=128" in text
    assert "| other |" not in text, "a kernel of one version has nothing to compare"
    assert [row["verdict"] for row in history_rows(versions)][:2] == ["", SLOWER]


def test_an_edit_that_breaks_the_best_configuration_is_broken_and_inherits_no_time(tmp_path: Path) -> None:
    status = "wrong_result"
    # Pins: the time of the version before, for a configuration whose result is wrong now.
    swept(tmp_path / "k.jsonl", 1, "first", {256: 10.0, 512: 20.0})
    swept(tmp_path / "k.jsonl", 2, "second", {256: status, 512: 19.0})
    swept(tmp_path / "k.jsonl", 3, "third", {256: status, 512: status})
    found = versions_of(tmp_path / "k.jsonl")
    assert [version.verdict for version in found] == ["", BROKEN, BROKEN]
    assert (
        found[1].point["block_size"] == 512 and found[1].ratio and found[1].ratio.value == pytest.approx(1.9, abs=0.01)
    )
    assert found[1].remark == f"the best before, block_size=256, is {status}" and not found[2].row
    assert headline(found).startswith(f"Broken: s/k (the best before, block_size=512, is {status}, 0000000*)")
    assert "none is right" in history_text(found, "on a GPU", {"s": PLACE})
    assert history_rows(found)[2]["time_us"] is None


def test_versions_of_other_settings_are_kept_apart(tmp_path: Path) -> None:
    # Pins: visits under two drivers in one time; the verdict on a driver as one on an edit.
    swept(tmp_path / "k.jsonl", 1, "first", {256: 10.0, 512: 11.0})
    swept(tmp_path / "k.jsonl", 2, "first", {256: 14.0, 512: 11.0}, **{"device.driver": "2"})
    swept(tmp_path / "k.jsonl", 3, "second", {512: 12.0}, **{"device.driver": "2"})
    found = versions_of(tmp_path / "k.jsonl")
    assert [float(version.row["time_us"]) for version in found] == pytest.approx([10, 11, 12], abs=0.1)
    assert [version.verdict for version in found] == ["", "", SLOWER]
    assert [version.remark for version in found] == ["", "another driver than before", ""]


def test_a_configuration_that_was_taken_out_of_the_sweep_is_not_broken(tmp_path: Path) -> None:
    swept(tmp_path / "k.jsonl", 1, "first", {256: 10.0, 512: 20.0})
    swept(tmp_path / "k.jsonl", 2, "second", {512: 19.0})
    found = versions_of(tmp_path / "k.jsonl")
    assert (found[1].verdict, found[1].remark) == (SLOWER, "the best before, block_size=256, is not swept")


@pytest.mark.parametrize(
    "damage",
    [
        "not JSON",
        "[" * 100_000,
        {"value": None},
        {"value": {"outcome": {"status": "ok", "visits": [], "of another release": 1}}},
        *({"value": {"outcome": {"status": "ok", "visits": [{"samples": samples}]}}} for samples in HOSTILE_SAMPLES),
    ],
    ids=lambda damage: str(damage)[:80],
)
def test_a_line_that_no_run_has_written_is_refused_by_its_number(tmp_path: Path, damage: str | dict[str, Any]) -> None:
    path = tmp_path / "k.jsonl"
    swept(path, 1, "first", {256: 10.0})
    lines = path.read_text().splitlines()
    if isinstance(damage, dict):
        line = json.loads(lines[1])
        value = damage["value"]
        damage = json.dumps({**line, "value": {**line["value"], **value} if value else None})
    path.write_text("\n".join([lines[0], damage, *lines[2:], ""]))
    with pytest.raises(UserError, match=rf"{re.escape(str(path))}, line 2: no line of a journal: .*delete this line"):
        read_records([path])


def test_the_journal_keeps_the_revision_and_its_keys_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = []
    for revision in ("one", "two"):
        monkeypatch.setenv("KERNELSWEEP_REVISION", revision)
        path = tmp_path / f"{revision}.jsonl"
        with Journal(path) as journal, Recorder(journal, "source") as recorder:
            recorder.add(Outcome("ok", visits=[Visit([1.0])]), {"binary": "b"})
        assert [line["revision"] for _, line in read_lines(path)] == [revision]
        keys.append(path.read_text().partition('"value"')[0])
    assert keys[0] == keys[1], "a new revision is no reason to measure again"


def test_each_kernel_with_a_history_is_compared_at_one_place() -> None:
    # Pins: the exchanges, whose reference has no width, ended `history` with a KeyError.
    both = [yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()) for name in ("config", "metrics")]
    config = both[0] | both[1] | {"platform": "emulator"}
    project = load_project({**config, "studies": study_names(ROOT)}, ROOT)
    for study in project.studies.values():
        assert not study.compares_times or {*place_axes(study.settings)} <= {*study.settings.reference}


@pytest.mark.parametrize("bad_from", range(9))
def test_bisect_asks_for_few_commits_and_finds_the_first_bad_one(bad_from: int) -> None:
    commits = [Commit(str(number), "") for number in range(8)]
    asked: list[int] = []

    def is_bad(commit: Commit) -> bool:
        asked.append(int(commit.revision))
        return asked[-1] >= bad_from

    found = first_bad(commits, is_bad)
    assert (found and int(found.revision)) == (bad_from if bad_from < 8 else None)
    assert asked[0] == 7 and len(asked) <= 4
