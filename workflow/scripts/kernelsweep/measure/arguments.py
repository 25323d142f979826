"""Whether a kernel's listed launches name arrays and scalars that its problem has."""

from __future__ import annotations

from kernelsweep.errors import UserError, nearest
from kernelsweep.sweep.kernels.planner import plan_of
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.points import Point


def check_arguments(kernel: KernelSource, point: Point, seed: int, file: str) -> None:
    """Raise UserError for an argument or a constant that the problem hasn't, before anything is run.

    point  one of the kernel's; its data is made
    file   the study's, for the message
    """
    if kernel.listed is None:
        return
    instance = kernel.problem.make_instance(kernel.name, point, 1, seed)
    arrays = instance.arrays(point)
    known = [*arrays, *instance.scalars(point)]
    where = f"{file}: the kernel {kernel.name!r}"
    plan = plan_of(kernel, point)
    for number, launch in enumerate(plan.launches):
        for name in launch.arguments:
            if isinstance(name, str) and name not in known:
                names = [*known, *point]
                guess = nearest(name, names) or ";"
                raise UserError(
                    f"{kernel.listed.place}.{number}.arguments has {name!r}{guess} Known: {', '.join(names)}."
                )
    for name in plan.constants:
        if name not in arrays or arrays[name].contents is None:
            inputs = [array for array in arrays if arrays[array].contents is not None]
            guess = nearest(name, inputs) or ";"
            raise UserError(f"{where}: constants has {name!r}{guess} Arrays among the inputs: {', '.join(inputs)}.")
