"""Settings of made-up studies, which tests change by plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelsweep.sweep.settings import StudySettings


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
    values = plain.values() if isinstance(plain, StudySettings) else plain
    return MadeSettings.model_validate({**StudySettings.stand_ins, **values})
