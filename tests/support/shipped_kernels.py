"""The kernels in kernels/, as parameters of tests."""

from __future__ import annotations

from typing import Any

import pytest
from checkout import ROOT

from kernelsweep.project.project import load_study
from kernelsweep.sweep.config_file import study_names


def shipped_kernels(problem: str) -> list[Any]:
    """Every kernel of a problem, once. Those that the emulator can't run, or that have no right result, are skipped by
    name. The tests of one kernel run in one process, so that they can share a build.
    """
    studies = [study for study in (load_study(name, ROOT) for name in study_names(ROOT))]
    kernels = {
        kernel.path: kernel
        for study in studies
        if study.settings["problem"] == problem
        for kernel in study.kernels.values()
    }
    params = []
    for path, kernel in kernels.items():
        name = f"{path.parent.name}/{kernel.name}"
        why = kernel.unsupported_on("emulator") or kernel.undefined_behaviour
        marks = [pytest.mark.xdist_group(name), *([pytest.mark.skip(reason=why)] if why else [])]
        params.append(pytest.param(kernel, id=name, marks=marks))
    return params
