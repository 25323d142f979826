"""Check the baselines, libraries and limits that a study names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelsweep.baselines.libraries import LIBRARIES, PROBLEM_LIBRARIES, as_kernel, call_of
from kernelsweep.errors import UserError, nearest
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.sweep.study import Study


def check_baselines(study: Study) -> None:
    """Raise UserError if a study names something unknown to compare its kernels with, or something for other work."""
    settings, kernels, shown = study.settings, study.kernels, study.file
    if settings["baselines"] and not (study.problem.races and settings["reference"]["operation"] == "sum"):
        raise UserError(f"{shown}: baselines compute sums, but the reference point's operation is not `sum`.")
    for key in ("rivals", "limits"):
        if settings[key] and not study.problem.races:
            raise UserError(
                f"{shown}: {key} do the same work as every kernel, but kernels of the problem {study.problem.name} do "
                "different work."
            )
    for name in LIBRARIES:
        if name in kernels:
            raise UserError(f"{shown}: kernels has {name!r}, which is a library's name in tables. Choose another one.")
    for name in settings["limits"]:
        if name not in (*DRIVER_LIMITS, *kernels):
            known = [*DRIVER_LIMITS, *kernels]
            raise UserError(f"{shown}: limits names {name!r}{nearest(name, known) or ';'} Known: {', '.join(known)}.")
    if {*settings["limits"]} & {*DRIVER_LIMITS} and "bytes" not in study.problem.work(settings["reference"]):
        raise UserError(f"{shown}: limits move as many bytes as the problem's work has, and its work names no bytes.")
    for name, call in settings["rival_calls"].items():
        _check_call(name, call, study)


def _check_call(name: str, call: Mapping[str, Any], study: Study) -> None:
    """Raise UserError if a study calls a library's function that there isn't, or with other words or arguments."""
    if name not in PROBLEM_LIBRARIES:
        guess = nearest(name, PROBLEM_LIBRARIES) or ";"
        raise UserError(f"{study.file}: rivals has {name!r}{guess} Known: {', '.join(PROBLEM_LIBRARIES)}.")
    known = PROBLEM_LIBRARIES[name]
    needed = f"{name}{f'<{known.words[0]}>' if known.words else ''} with {', '.join(known.parameters)}"
    if len(call["arguments"]) != len(known.parameters):
        raise UserError(
            f"{study.file}: rivals calls {name} with {len(call['arguments'])} arguments. It needs: {needed}."
        )
    launch = call_of(as_kernel(name, study.problem, call))
    if launch is None or len(launch.template) != bool(known.words):
        raise UserError(f"{study.file}: rivals has {call['call']!r}. It needs: {needed}.")
