"""A point is a mapping of axes to values that can't be changed."""

from __future__ import annotations

import json

import pytest
from planted import point

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
