"""The words at the beginning of a kernel's file."""

from __future__ import annotations

import pytest

from kernelsweep.sweep.kernels.leading_comments import story


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("// An idea.\n//\n// Its *reason*.\n", "An idea.\n\nIts *reason*."),
        ("#include <cuda.h>\n\n/* An idea,\n * in two lines. */\n#define N 1\n// N.\n", "An idea,\nin two lines."),
        ("// An idea.\n\n// The code below.\nint n;", "An idea."),
        ("// SPDX-License-Identifier: MIT\n// All rights reserved.\n", ""),
        ("int n;  // No idea.\n", ""),
    ],
)
def test_a_files_first_comment_tells_its_story(text: str, told: str) -> None:
    assert story(text) == told
