"""Accesses next to an array are found in the plain run, though results and inputs may be right. On the emulator."""

from __future__ import annotations

from pathlib import Path

import pytest
from planted import ROOT, point, run

from kernelsweep.problems.reduction import REDUCTION
from kernelsweep.sweep.kernels.header import read_kernel


# Arrays start at a multiple of 16 bytes. So those whose size is one end just before a page that nothing may touch; the
# others before some bytes of a guard.
@pytest.mark.parametrize(
    ("name", "size", "status", "message"),
    [
        ("reads_past_end", 1000, "launch_failed", "data[1000], where data has 1,000 elements"),
        ("reads_past_end", 1001, "wrong_result", "expected"),
        ("writes_past_end", 1024, "launch_failed", "partials[32], where partials has 32 elements"),
        ("writes_past_end", 1025, "wrong_result", "writes past the end of partials: partials[33], where"),
        ("writes_before_start", 1024, "wrong_result", "writes before the start of partials: partials[-1], where"),
    ],
)
def test_an_access_next_to_an_array_is_named(name: str, size: int, status: str, message: str, tmp_path: Path) -> None:
    kernel = read_kernel(ROOT / f"tests/planted/{name}.cu", ROOT, REDUCTION)
    outcome = run(kernel, [point(size, 32)], tmp_path)[point(size, 32)]
    assert outcome.status == status
    assert message in outcome.message
