"""Whether a kernel's listed launches name arrays and scalars that its problem has, and whether these fit the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernelsweep.errors import LaunchError, MisfitError, UserError, nearest
from kernelsweep.measure.point.fit import fitting
from kernelsweep.measure.point.memory import arrays_of
from kernelsweep.measure.task import KernelTask
from kernelsweep.platforms.platform import check_constant
from kernelsweep.problems.file_instance import FileInstance
from kernelsweep.sweep.kernels.launches import KernelLaunches
from kernelsweep.sweep.kernels.source import KernelSource
from kernelsweep.sweep.point import Point


def check_arguments(kernel: KernelSource, point: Point, seed: int, file: str) -> None:
    """Raise UserError for an argument or a constant that the problem hasn't, before anything is run.

    point  one of the kernel's; its data is made
    file   the study's, for the message
    """
    instance = kernel.problem.instance(kernel.name, point, seed)
    plan = kernel.plan(point)
    of_problem = [*instance.arrays(point), *instance.scalars(point)]
    arrays = arrays_of(point, plan, instance)
    known = [*arrays, *instance.scalars(point)]
    where = f"{file}: the kernel {kernel.name!r}"
    for own in plan.arrays:
        if own in of_problem:
            raise UserError(f"{where}: arrays has {own!r}, which {kernel.problem.name} has, too. Rename one.")
    for number, launch in enumerate(plan.launches):
        for name in launch.arguments:
            if isinstance(name, str) and name not in known:
                every = [*known, *point]
                guess = nearest(name, every) or ";"
                raise UserError(
                    f"{kernel.launches.place}.{number}.arguments has {name!r}{guess} Known: {', '.join(every)}."
                )
    inputs = [name for name, array in arrays.items() if array.contents is not None]
    for key, names, allowed in (
        ("results", [*plan.results], [*arrays]),
        ("updates", [*plan.updates], inputs),
        ("constants", [*plan.constants], inputs),
    ):
        for name in names:
            if name not in allowed:
                if key == "constants" and name in known:
                    raise UserError(
                        f"{where}: constants has {name!r}, a number without a type: write np.float32({name})."
                    )
                guess = nearest(name, allowed) or ";"
                of = "Arrays among the inputs" if allowed is inputs else "Arrays"
                raise UserError(f"{where}: {key} has {name!r}{guess} {of}: {', '.join(allowed)}.")


def check_fit(task: KernelTask, launches: KernelLaunches, point: Point, instance: FileInstance) -> None:
    """Raise UserError where a point's arguments or constants don't fit the compiled kernel's parameters.

    launches  the kernel's
    instance  the problem's at the point

    These stand in a cubin. The emulator's kernels are asked for theirs at their first launch, as are kernels that
    are compiled while they are measured.
    """
    if not task.binary:
        return
    plan = launches.at(point)
    arrays, scalars = arrays_of(point, plan, instance), instance.scalars(point)
    try:
        for launch in plan.launches:
            function = launch.function
            report = task.variants[function]
            known = {**scalars, **arrays}
            values = [known[name] if isinstance(name, str) else name for name in launch.arguments]
            _check_parameters(function, launch.arguments, values, report.get("parameter_types", []))
            for name in set(plan.constants) & set(report.get("constant_bytes", [])):
                bytes_of_values = arrays[name].size * arrays[name].dtype.itemsize
                check_constant(name, bytes_of_values, report["constant_bytes"][name])
    except MisfitError as error:
        raise UserError(f"{task.launches['place']}: {error} (at {point}).") from error


def _check_parameters(function: str, names: Sequence[Any], values: Sequence[Any], parameters: Sequence[str]) -> None:
    """Raise MisfitError for arguments that fit at no point. A number that is too large at one may fit at others."""
    try:
        fitting(function, names, values, parameters)
    except MisfitError:
        raise
    except LaunchError:
        return
