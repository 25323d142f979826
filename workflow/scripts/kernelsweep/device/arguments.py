"""Whether a kernel's listed launches name arrays and scalars that its problem has."""

from __future__ import annotations

from kernelsweep.device.point.memory import arrays_of
from kernelsweep.errors import UserError, check_known, nearest
from kernelsweep.study.kernels.plan import Plan, array_of
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.problem.file_instance import FileInstance


def check_arguments(kernel: KernelSource, point: Point, seed: int, file: str) -> None:
    """Raise UserError for an argument or a constant that the problem hasn't, before anything is run.

    point  one of the kernel's; its data is made
    file   the study's, for the message
    """
    instance, where = kernel.problem.instance(kernel.name, point, seed), f"{file}: the kernel {kernel.name!r}"
    plan = kernel.plan(point)
    for own in plan.arrays:
        if own in instance.arrays() or own in instance.scalars():
            raise UserError(f"{where}: arrays has {own!r}, which {kernel.problem.name} has, too. Rename one.")
    check_names(plan, instance, point, kernel.launches.place, where)


def check_names(plan: Plan, instance: FileInstance, point: Point, place: str, where: str) -> None:
    """Raise UserError for an argument, a result, an update or a constant that a point's problem hasn't.

    place, where  of the launches and of the kernel, for the message
    """
    arrays = arrays_of(plan, instance)
    known = [*arrays, *instance.scalars()]
    for number, launch in enumerate(plan.launches):
        for name in launch.arguments:
            if isinstance(name, str) and array_of(name) not in (arrays if array_of(name) != name else known):
                every = [*known, *point]
                guess = nearest(name, every) or f". Known: {', '.join(every)}."
                raise UserError(f"{place}.{number}.arguments has {name!r}{guess}")
    inputs = [name for name, array in arrays.items() if array.contents is not None]
    for key, names, allowed in (
        ("results", [*plan.results], [*arrays]),
        ("updates", [*plan.updates], inputs),
        ("constants", [*plan.constants], inputs),
        ("variables", [*plan.variables], [*arrays]),
    ):
        for name in names:
            if key == "constants" and name in known and name not in allowed:
                raise UserError(f"{where}: constants has {name!r}, a number without a type: write np.float32({name}).")
            of = "Arrays among the inputs" if allowed is inputs else "Arrays"
            check_known(name, allowed, f"{where}: {key} has", of)
