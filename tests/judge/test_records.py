"""What a kernel's journal keeps for comparisons."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from journal_lines import add_visit, identity

from kernelsweep.device.outcome import Outcome, Timing
from kernelsweep.errors import UserError
from kernelsweep.judge.comparison.sides import read_records
from kernelsweep.sweep.bench import Front
from kernelsweep.sweep.journal import Journal, read_lines


@pytest.mark.parametrize(
    "damage",
    [
        "not JSON",
        "[" * 100_000,
        {"value": None},
        {"value": {"outcome": {"status": "ok", "visits": [], "of another release": 1}}},
        # Pins: stacks.
        *({"value": {"of": of}} for of in ([], identity({"n": 1}, "b", {"device.name": 5}), identity({}, "b", {}))),
        {"value": {"measured": None}},
    ],
    ids=lambda damage: str(damage)[:80],
)
def test_a_line_that_no_run_has_written_is_refused_by_its_number(tmp_path: Path, damage: str | dict[str, Any]) -> None:
    path = tmp_path / "k.jsonl"
    with Journal(path) as journal:
        for visit in range(3):
            add_visit(journal, identity({"block_size": 256}, "b", {}), visit, [10.0] * 9, "s", "2026-11-01T10:00:00Z")
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
        with Journal(path) as journal:
            Front(journal, source="source").record(Outcome("ok", visits=[Timing([1.0])]), {"binary": "b"})
        assert [line["revision"] for _, line in read_lines(path)] == [revision]
        keys.append(path.read_text().partition('"value"')[0])
    assert keys[0] == keys[1], "a new revision is no reason to measure again"
