"""Where results lie: rules' patterns and the files that the library names are spelled by the same functions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

from kernelsweep.project import files

PATHS = {
    name: function
    for name, function in inspect.getmembers(files, inspect.isfunction)
    if function.__module__ == files.__name__ and name not in ("scope_of", "parts_of", "with_scope")
}
# Arguments that the functions need besides wildcards.
REQUIRED = {"suffix": "csv", "name": "comparison.csv", "rule": "collect", "file": "ladder.svg", "study": "unrolling"}


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_a_rules_pattern_matches_the_file_that_is_asked_for(path: Callable[..., str]) -> None:
    # Pins: two wildcards exchanged, or one that a pattern lacks, so that two jobs would write one file.
    parameters = inspect.signature(path).parameters.values()
    required = {
        one.name: REQUIRED[one.name]
        for one in parameters
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL
    }
    wildcards = {one.name: one.default for one in parameters if re.fullmatch(r"\{\w+\}", str(one.default))}
    values = {name: f"a-{name}" for name in wildcards}
    pattern = path(**required)
    assert sorted(re.findall(r"\{\w+\}", pattern)) == sorted(wildcards.values())
    assert pattern.format(**{wildcards[name][1:-1]: value for name, value in values.items()}) == path(
        **required, **values
    )


def test_no_two_kinds_of_files_share_a_path() -> None:
    def pattern(path: Callable[..., Any]) -> str:
        needed = [one.name for one in inspect.signature(path).parameters.values() if one.default is one.empty]
        text = path(**{name: REQUIRED[name] for name in needed if name in REQUIRED})
        return re.sub(r"\{\w+\}", "*", text)

    patterns = [pattern(path) for name, path in PATHS.items() if name not in ("folder", "recording")]
    assert len(set(patterns)) == len(patterns)


@pytest.mark.parametrize("platform", ["emulator", "recording/nvidia-h200", "recording/studies"])
def test_a_scope_is_a_platform_and_maybe_a_study(platform: str) -> None:
    assert files.parts_of(files.scope_of(platform)) == (platform, None)
    assert files.parts_of(files.scope_of(platform, "unrolling")) == (platform, "unrolling")
    whole = {"scope": platform}
    assert files.with_scope(whole) == {"scope": platform, "platform": platform}
    of_study = {"platform": platform, "study": "unrolling", "kernel": "shuffle"}
    scope = f"{platform}/studies/unrolling"
    assert files.with_scope(of_study) == {**of_study, "scope": scope}
    assert files.with_scope({"scope": scope}) == {"scope": scope, "platform": platform, "study": "unrolling"}
    assert files.with_scope({"target": "sm_90"}) == {"target": "sm_90"}
