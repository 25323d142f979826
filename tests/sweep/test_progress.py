"""The progress of a kernel: its part of the run's line, and the first verdict on an edit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from planted import point

from kernelsweep.base.logs import LINE_FILE
from kernelsweep.device.outcome import Outcome, Timing
from kernelsweep.sweep.progress import EarlyVerdict, progress

SIZE = 2**24


def test_an_edited_kernel_shows_how_far_it_is_and_tells_the_first_verdict_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, told = tmp_path / "line", list[str]()
    monkeypatch.setenv(LINE_FILE, str(line))
    monkeypatch.setattr("kernelsweep.sweep.progress.SECONDS_BETWEEN_UPDATES", 0)
    early = EarlyVerdict(0.01, 2, told.append)
    slower = Outcome("ok", visits=[Timing([20_600.0] * 7, before=[20_000.0] * 7)], before_binary="b")
    with progress("s/k", early=early) as shown:
        assert line.read_text() == "s/k"
        shown.show(1, 3, point(SIZE), slower)
        assert told == []
        shown.show(2, 3, point(2 * SIZE), slower)
        assert told == ["1.030 times the time: 2 slower (the first 2 points, one a size)"]
        same = replace(slower, visits=[Timing([20_000.0] * 7, before=[20_000.0] * 7)])
        shown.show(3, 3, point(4 * SIZE), same)
        assert line.read_text() == "s/k 3/3"
    assert len(told) == 1 and str(early) == "1.020 times the time: 2 slower, 1 same" and not line.exists()
