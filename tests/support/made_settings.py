"""Settings of made-up studies, which tests change by plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkout import ROOT

from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.study.settings import StudySettings
from kernelsweep.study.study import axis_kinds


class MadeSettings(StudySettings):
    """A made-up study's settings: `made | {"metrics": []}` are others, and `{**made}` are plain values."""

    def __or__(self, changes: Mapping[str, Any]) -> MadeSettings:
        return made({**self.values(), **changes})

    def __getitem__(self, key: str) -> Any:
        return self.values(key)[key]

    def keys(self) -> list[str]:
        return [*type(self).model_fields]


def made(plain: Mapping[str, Any] | StudySettings) -> MadeSettings:
    """The settings with these values; what they leave out has its default."""
    if isinstance(plain, StudySettings):
        return MadeSettings.model_validate(plain.values())
    kinds = axis_kinds(problem_of(plain["problem"], ROOT)) if plain.get("problem") and "kinds" not in plain else {}
    return MadeSettings.model_validate({**StudySettings.stand_ins, "kinds": kinds, **plain})
