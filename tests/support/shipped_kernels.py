"""The studies in config/studies/, read once in a process, and their kernels as parameters of tests."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from checkout import ROOT

from kernelsweep.project.project import load_study
from kernelsweep.study.settings import study_names
from kernelsweep.study.study import Study


@functools.cache
def shipped_study(name: str) -> Study:
    """A study of config/studies/, which the tests share: it is not to be changed."""
    return load_study(name, ROOT)


def shipped_studies() -> list[Study]:
    return [shipped_study(name) for name in study_names(ROOT)]


def shipped_kernels(problem: str) -> list[Any]:
    """Every kernel of a problem, once. Those that the emulator can't run, or that have no right result, are skipped by
    name. The tests of a folder's kernels run in one process, so that they can share a build.
    """
    kernels = {
        kernel.path: kernel
        for study in shipped_studies()
        if study.settings.problem["file"] == problem
        for kernel in study.kernels.values()
    }
    params = []
    for path, kernel in kernels.items():
        name = f"{path.parent.name}/{kernel.name}"
        why = kernel.unsupported_on("emulator") or kernel.entry.undefined_behaviour
        marks = [pytest.mark.xdist_group(path.parent.name), *([pytest.mark.skip(reason=why)] if why else [])]
        params.append(pytest.param(kernel, id=name, marks=marks))
    return params
