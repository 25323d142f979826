"""Points, which are mappings of axes to values, and the story that a kernel's first comment tells."""

from __future__ import annotations

import json
import time

import pytest
from planted import point

from kernelsweep.study.kernels.source import story
from kernelsweep.study.point import Point
from kernelsweep.study.spaces import valid_points


def test_a_point_is_equal_to_what_comes_back_from_a_worker() -> None:
    # Pins: points from a journal or a chunk's file that, as keys, differ from the plan's points.
    one = point(1000, grid_size=3)
    assert Point(json.loads(json.dumps(dict(one)))) == one
    assert {one: "first"}[one.at(array_size=1).at(array_size=1000)] == "first"
    assert one.at(cache="cold") != one and one["cache"] == "hot"
    with pytest.raises(KeyError, match="width"):
        one.at(width=8)


def test_a_hundred_thousand_values_of_an_axis_take_no_longer_than_their_number() -> None:
    # Pins: a search through all values for each value, and a pass over all points for each value: hours of planning.
    started = time.process_time()
    sizes = [*range(100_000, 0, -1)]
    points = valid_points([{"n": sizes, "block": [32, 64]}, {"n": [7, *sizes], "block": [64, 128]}], ["n + block > 40"])
    assert [points[int(number)]["n"] for number in points.firsts(["n"])] == sizes
    groups = points.groups(["n"])
    assert [points[int(group[0])]["n"] for group in groups] == sizes
    assert [points[int(number)]["block"] for number in groups[-1]] == [64, 128]
    assert time.process_time() - started < 20


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
