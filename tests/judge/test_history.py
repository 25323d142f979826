"""The history of kernels: which version of a source was fastest, which became slower, and what the journal keeps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT

from kernelsweep.analysis.places import place_axes
from kernelsweep.drawing.layout import save
from kernelsweep.judge.comparison.verdicts import FASTER, SAME, SLOWER
from kernelsweep.judge.history.figure import draw
from kernelsweep.judge.history.report import headline, history_rows, history_text
from kernelsweep.judge.history.versions import Version, judged, kernel_versions
from kernelsweep.measure.journal import Journal, read_values
from kernelsweep.measure.outcome import Outcome, Visit
from kernelsweep.measure.work import Recorder
from kernelsweep.project import parameters
from kernelsweep.project.project import load_project
from kernelsweep.sweep.config_file import study_names

PLACE = {"array_size": 2**20, "cache": "cold"}


def lines(day: int, source: str, times_us: dict[int, float], **of: Any) -> list[dict[str, Any]]:
    """The journal's lines of a day: three visits to each block size; source and block size make the binary."""
    return [
        {
            "measured": f"2026-11-{day:02}T10:0{visit}:00Z",
            "source_sha256": source,
            "revision": f"{day:040}" + ("-dirty" if day % 2 else ""),
            "of": {
                "device": "a GPU",
                "point": {**PLACE, "block_size": block_size, **of},
                "binary": f"{source} {block_size}",
                "visit": visit,
            },
            "outcome": {"status": "ok", "visits": [{"samples": [us + step / 1e3 + visit / 1e2 for step in range(9)]}]},
        }
        for block_size, us in times_us.items()
        for visit in range(3)
    ]


@pytest.fixture
def versions() -> list[Version]:
    """Four versions: the second is slower, the third has another block size's code, the fourth is taken back."""
    journal = [
        *lines(1, "first", {64: 110.0, 128: 100.0}),
        *lines(1, "first", {64: 1.0}, array_size=2**10),
        *lines(2, "second", {64: 112.0, 128: 105.0}),
        *lines(3, "third", {64: 108.0}),
        *lines(4, "fourth", {64: 120.0, 128: 100.0}),
    ]
    journal += [{**line, "of": {**line["of"], "device": "another"}} for line in lines(5, "third", {64: 1.0})]
    found = kernel_versions("s/k", [*journal, {"from": "an old version"}], PLACE, "a GPU", source_now="third")
    return judged([*found, *kernel_versions("s/other", lines(1, "x", {64: 5.0}), PLACE, "a GPU", "x")], 0.005)


def test_each_version_has_its_best_time_and_the_slower_ones_are_marked(versions: Sequence[Version]) -> None:
    of_k = [version for version in versions if version.kernel == "s/k"]
    assert [version.source for version in of_k] == ["first", "second", "third", "fourth", "third"]
    assert [float(version.row["time_us"]) for version in of_k] == pytest.approx([100, 105, 105, 100, 105], abs=0.1)
    # The third edit left the machine code of 128 threads as it was, which is still the best, also once it is restored.
    assert {version.point["block_size"] for version in of_k} == {128}
    assert [version.verdict for version in of_k] == ["", SLOWER, SAME, FASTER, SLOWER]
    assert [version.label for version in of_k] == ["0000000*", "0000000", "0000000*", "0000000", "0000000*"]
    said = (
        "Slower than the version before: s/k (1.050 times the time, 0000000*). Kernels with several versions: 1 of 2."
    )
    assert headline(versions) == said
    assert headline(of_k[:4]) == "None is slower. Kernels with several versions: 1 of 1."
    text = history_text(versions, "on a GPU", {"s": PLACE})
    assert text.count("**slower**") == 2 and "| k | 0000000 | 2026-11-02 | 105.0" in text and "block_size=128" in text
    assert "| other |" not in text, "a kernel of one version has nothing to compare"
    assert [row["verdict"] for row in history_rows(versions)][:2] == ["", SLOWER]


def test_the_figure_marks_what_became_slower(versions: Sequence[Version], tmp_path: Path) -> None:
    figure = draw(versions, "On a GPU")
    marks = [line.get_marker() for line in figure.axes[0].get_lines()][1:]
    assert marks == ["o", "^", "o", "o", "^"]
    save(figure, tmp_path / "history.png")
    empty = draw([version for version in versions if version.kernel == "s/other"], "On a GPU")
    assert [text.get_text() for text in empty.axes[0].texts] == ["No kernel was measured in two versions."]


def test_the_journal_keeps_the_revision_and_its_keys_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = []
    for revision in ("one", "two"):
        monkeypatch.setenv("KERNELSWEEP_REVISION", revision)
        path = tmp_path / f"{revision}.jsonl"
        with Journal(path) as journal, Recorder(journal, "source") as recorder:
            recorder.add(Outcome("ok", visits=[Visit([1.0])]), {"binary": "b"})
        assert [line["revision"] for line in read_values(path)] == [revision]
        keys.append(path.read_text().partition('"value"')[0])
    assert keys[0] == keys[1], "a new revision is no reason to measure again"


def test_each_kernel_with_a_history_is_compared_at_one_place() -> None:
    # Pins: the exchanges, whose reference has no width, ended `history` with a KeyError.
    both = [yaml.safe_load((ROOT / f"config/{name}.yaml").read_text()) for name in ("config", "metrics")]
    config = both[0] | both[1] | {"platform": "emulator"}
    project = load_project({**config, "studies": study_names(ROOT)}, ROOT)
    studies = parameters.compared_settings(project, "emulator")
    kernels = parameters.versioned_kernels(project, "emulator")
    assert {kernel.partition("/")[0] for kernel in kernels} == set(studies)
    for settings in studies.values():
        assert set(place_axes(settings)) <= set(settings["reference"])
