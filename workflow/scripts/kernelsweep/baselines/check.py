"""Check the libraries and limits that a study names."""

from __future__ import annotations

from kernelsweep.baselines.libraries import LIBRARIES, as_kernel, words_of
from kernelsweep.errors import UserError, nearest
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.sweep.settings import Rival
from kernelsweep.sweep.study import Study


def check_baselines(study: Study) -> None:
    """Raise UserError if a study names something unknown to compare its kernels with, or something for other work."""
    settings, kernels, shown = study.settings, study.kernels, study.file
    for key in ("rivals", "limits"):
        if getattr(settings, key) and not study.compares_times:
            raise UserError(f"{shown}: {key} do the same work as every kernel, but this study compares outputs.")
    for name in LIBRARIES:
        if name in kernels:
            raise UserError(f"{shown}: kernels has {name!r}, which is a library's name in tables. Choose another one.")
    for name in settings.limits:
        if name not in (*DRIVER_LIMITS, *kernels):
            known = [*DRIVER_LIMITS, *kernels]
            raise UserError(f"{shown}: limits names {name!r}{nearest(name, known) or ';'} Known: {', '.join(known)}.")
    if {*settings.limits} & {*DRIVER_LIMITS} and "bytes" not in study.problem.work(settings.reference):
        raise UserError(f"{shown}: limits move as many bytes as the problem's work has, and its work names no bytes.")
    for name, call in settings.rival_calls.items():
        _check_call(name, call, study)


def _check_call(name: str, call: Rival, study: Study) -> None:
    """Raise UserError if a study calls a library's function that there isn't, or with other words or arguments."""
    if name not in LIBRARIES:
        guess = nearest(name, LIBRARIES) or ";"
        raise UserError(f"{study.file}: rivals has {name!r}{guess} Known: {', '.join(LIBRARIES)}.")
    words, parameters = LIBRARIES[name].words, LIBRARIES[name].parameters
    given = len(words_of(as_kernel(name, study.problem, call))), len(call.arguments)
    if given != (len(words), len(parameters)):
        needed = f"{name}<{', '.join(words)}>" if words else name
        raise UserError(
            f"{study.file}: rivals calls {call.call!r} with {given[1]} arguments. It needs: {needed} with "
            f"{', '.join(parameters)}."
        )
