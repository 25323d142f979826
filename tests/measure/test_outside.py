"""Accesses next to an array are found in the plain run, though results and inputs may be right. On the emulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import ROOT, kernel_in, point, run


@pytest.mark.parametrize(
    ("name", "size", "message"),
    [
        ("reads_past_end", 1000, "reads data[1000]"),
        ("reads_past_end", 1001, "reads data[1001]"),
        ("writes_past_end", 1024, "writes partials[32]"),
        ("writes_past_end", 1025, "writes partials[33]"),
        ("writes_before_start", 1024, "writes partials[-1]"),
    ],
)
def test_an_access_next_to_an_array_is_named(name: str, size: int, message: str, tmp_path: Path) -> None:
    kernel = kernel_in(ROOT / f"tests/planted/{name}.cu")
    outcome = run(kernel, [point(size, 32)], tmp_path)[point(size, 32)]
    assert outcome.status == "wrong_result"
    (mistake,) = [mistake for mistake in outcome.mistakes if mistake.kind == "out_of_bounds"]
    assert message in mistake.message and f"{name}.cu:" in mistake.message
