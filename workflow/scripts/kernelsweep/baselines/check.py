"""Check the baselines, libraries and limits that a study names."""

from __future__ import annotations

from kernelsweep.baselines.libraries import LIBRARIES
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
