"""Points, which are mappings of axes to values, and the story that a kernel's first comment tells."""

from __future__ import annotations

import json

import pytest
from planted import point

from kernelsweep.study.kernels.source import story
from kernelsweep.study.point import Point


def test_a_point_is_equal_to_what_comes_back_from_a_worker() -> None:
    # Pins: points from a journal or a chunk's file that, as keys, differ from the plan's points.
    one = point(1000, grid_size=3)
    assert Point(json.loads(json.dumps(dict(one)))) == one
    assert {one: "first"}[one.at(array_size=1).at(array_size=1000)] == "first"
    assert one.at(cache="cold") != one and one["cache"] == "hot"
    with pytest.raises(KeyError, match="width"):
        one.at(width=8)


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
