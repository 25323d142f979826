"""The shipped problems, and kernels in any file with the launches of a shipped kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from checkout import ROOT
from shipped_kernels import shipped_study

from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.problem.problem_file import problem_of
from kernelsweep.study.settings import KernelSettings
from kernelsweep.study.study import read_kernel

_WORDS = ("dtype", "operation", "cache")
_AXES = ("dtype", "operation", "cache", "array_size", "block_size", "unroll", "grid_size")
FILE = str(ROOT / "kernels/reduction_problem.py")
REDUCTION = problem_of({"file": FILE, "axes": {name: name in _WORDS for name in _AXES}, "data": []}, ROOT)
EXCHANGE = shipped_study("exchanges").problem
CXX = shipped_study("operations").settings.cxx
OPERATIONS = ("sum", "product", "minimum", "maximum")
DTYPES = ("int32", "int64", "float32", "float64")

# A shipped kernel for each way to launch one.
PLANS = {
    "block_partials": ("unrolling", "neighbored"),
    "until_one_value": ("stepwise", "modulo_baseline"),
    "two_stages": ("bandwidth_bound", "vector_loads"),
    "grid_partials": ("bandwidth_bound", "read_only"),
    "single_launch": ("bandwidth_bound", "last_block"),
    "three_stages": ("staged", "staged_global"),
}
_COPIED = ("launches", "arrays", "results", "roundings")
_TEMPLATE = r"template\s*<([^>]*)>\s*__global__"
_OF_PARAMETER = {"Element": "dtype", "Operation": "operation"}


def kernel_in(path: Path, plan: str = "block_partials", **settings: Any) -> KernelSource:
    """The kernel of a reduction in a file, launched as PLANS says, with these settings of a study's entry."""
    study, shipped = PLANS[plan]
    entry = shipped_study(study).entry(shipped).values(*_COPIED)
    text = path.read_text(encoding="utf-8")
    template = re.search(_TEMPLATE, text)
    parameters = [one.split()[-1] for one in template[1].split(",")] if template else []
    axes = ", ".join(_OF_PARAMETER.get(name, name) for name in parameters)
    changes = re.search(rf"\b{path.stem}\(\s*Element \*data", text)
    given = {
        "name": path.stem,
        "function": f"{path.stem}<{axes}>" if axes else path.stem,
        **entry,
        "updates": ["data"] if changes else [],
        **settings,
    }
    return read_kernel(KernelSettings.read(given, path.name), path, REDUCTION, CXX, path.name)


def input_of(one: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """The input of a reduction's point, as a platform holds it."""
    array = REDUCTION.instance("", one, 1).arrays()["data"]
    assert array.contents is not None
    return np.resize(array.contents, array.size)
