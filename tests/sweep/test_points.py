"""Points, which are mappings of axes to values, and the story that a kernel's first comment tells."""

from __future__ import annotations

import json

import pytest
from planted import point

from kernelsweep.sweep.kernels.source import story
from kernelsweep.sweep.point import Point, in_words


def test_a_point_is_equal_to_what_comes_back_from_a_worker() -> None:
    # Pins: points from a journal or a chunk's file that, as keys, differ from the plan's points.
    one = point(1000, grid_size=3)
    assert Point(json.loads(json.dumps(dict(one)))) == one
    assert {one: "first"}[one.at(array_size=1).at(array_size=1000)] == "first"
    assert one.at(cache="cold") != one and one["cache"] == "hot"
    with pytest.raises(KeyError, match="width"):
        one.at(width=8)


def test_a_point_in_words_has_names_for_its_numbers() -> None:
    assert str(point(1000, 64)) == "array size 1000, block size 64, unroll 1, int32, sum, hot"
    exchange = point(16, 4, operation="exchange", unroll=4, width=16, arguments="lane_mask=1 first=0")
    assert str(exchange).endswith("width 16, hot, int32, exchange, lane_mask=1 first=0")
    assert in_words({"block_size": "64", "arguments": "", "dtype": "int32", "tile_size_x": 4}) == (
        "block size 64, tile size x 4, int32"
    )


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
