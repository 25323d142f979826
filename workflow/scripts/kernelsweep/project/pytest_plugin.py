"""For pytest: `pytest --kernelsweep` checks the studies of config/studies/, one test per kernel, without a GPU.

An installation brings it. In a checkout: PYTHONPATH=workflow/scripts pytest -p kernelsweep.project.pytest_plugin ...
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

# Whatever else is imported is imported where it is needed: every run of pytest loads this file.
_OPTION = "--kernelsweep"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("kernelsweep")
    group.addoption(
        _OPTION,
        action="store_true",
        help="also check the studies of config/studies/ on kernelsweep's emulator, one test per kernel",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Have the studies' folder collected, too."""
    folder = config.rootpath / "config/studies"
    named = [Path(one.partition("::")[0]).absolute() for one in config.args]
    if config.getoption(_OPTION) and folder.is_dir() and not any(map(folder.is_relative_to, named)):
        names_a_study = any(one.is_relative_to(folder) for one in named)
        config.args += [] if names_a_study else [str(folder)]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a study's file."""
    is_study = file_path.suffix == ".yaml" and file_path.parts[-3:-1] == ("config", "studies")
    if not is_study or not parent.config.getoption(_OPTION):
        return None
    return StudyFile.from_parent(parent, path=file_path)


class StudyFile(pytest.File):
    """A study. The first of its tests runs it."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each kernel."""
        from kernelsweep.errors import UserError
        from kernelsweep.study.study import read_study

        try:
            kernels = read_study(self.path.stem, self.path.parents[2]).kernels
        except UserError as error:
            raise self.CollectError(str(error)) from error
        for kernel in kernels:
            yield KernelItem.from_parent(self, name=kernel)

    @cached_property
    def ran(self) -> Any:
        """The results, and the mistakes by kernel."""
        from kernelsweep.project.annotations import annotated
        from kernelsweep.project.notebook import run

        root, study = self.path.parents[2], self.path.stem
        results = run(self.path, until=["judge"], platform="emulator")
        found = annotated(root, results.folder, [study], self.config.rootpath)
        return results.study(study), found


class KernelItem(pytest.Item):
    """A kernel of a study: all of its points are right, and no check of memory found a mistake."""

    parent: StudyFile

    def runtest(self) -> None:
        """Run the study, unless another of its tests has; fail with what was found in this kernel."""
        rows, found = self.parent.ran
        if wrong := [str(one) for one in found if one.kernel == self.name]:
            raise KernelMistake("\n".join(wrong))
        rows = rows[rows["kernel"] == self.name]
        if (rows["status"] == "skipped").all():
            why = rows["message"].iloc[0] if len(rows) and "message" in rows else "it has no point on the emulator"
            pytest.skip(str(why))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> Any:
        """What is wrong, without a traceback."""
        from kernelsweep.errors import UserError

        if isinstance(excinfo.value, KernelMistake | UserError):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        """What pytest calls it."""
        return self.path, None, f"{self.path.stem}/{self.name}"


class KernelMistake(AssertionError):
    """What was found in a kernel."""
