"""Where results lie: rules' patterns and the files that the library names are spelled by one table."""

from __future__ import annotations

import re

import pytest

from kernelsweep.project.files import KEPT, PATHS, parts_of, path, scope_of, with_scope


def test_no_two_kinds_of_files_share_a_path() -> None:
    patterns = [re.sub(r"\{\w+\}", "*", pattern) for pattern in (*PATHS.values(), *KEPT.values())]
    assert len(set(patterns)) == len(patterns)


def test_a_wildcard_without_a_value_stays_in_a_rules_pattern() -> None:
    pattern = path("points", study="unrolling")
    assert pattern == "results/{platform}/points/unrolling/{kernel}.csv"
    whole = {"platform": "emulator", "study": "unrolling", "kernel": "a"}
    assert pattern.format(platform="emulator", kernel="a") == path("points", **whole)
    assert path("recorded", name="mine", file="environment.json") == "resources/recordings/mine/environment.json"


@pytest.mark.parametrize("platform", ["emulator", "recording/studies"])
def test_a_scope_is_a_platform_and_maybe_a_study(platform: str) -> None:
    assert parts_of(scope_of(platform)) == (platform, None)
    assert parts_of(scope_of(platform, "unrolling")) == (platform, "unrolling")
    of_study = {"platform": platform, "study": "unrolling", "kernel": "shuffle"}
    scope = f"{platform}/studies/unrolling"
    assert with_scope(of_study) == {**of_study, "scope": scope}
    assert with_scope({"scope": scope}) == {"scope": scope, "platform": platform, "study": "unrolling"}
    assert with_scope({"target": "sm_90"}) == {"target": "sm_90"}
