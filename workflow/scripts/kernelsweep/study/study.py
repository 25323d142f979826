"""Read a study: config/studies/<study>.yaml, its problem, and the kernels that it names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from kernelsweep.errors import UserError, check_known
from kernelsweep.home import HEADERS
from kernelsweep.results import MEASUREMENT_COLUMNS, POINT_COLUMNS
from kernelsweep.study.axes import CACHE_STATES
from kernelsweep.study.expressions import FUNCTIONS, check_expression
from kernelsweep.study.kernels.launches import read_launches
from kernelsweep.study.kernels.source import (
    ARCH,
    GRID_SIZE,
    LAUNCHES,
    KernelSource,
    check_macros,
    kernel_file,
    missing_package,
    parameters_of,
    read_source,
)
from kernelsweep.study.problem.problem_file import Named, Problem, problem_of
from kernelsweep.study.settings import (
    AxesLayer,
    KernelSettings,
    ProfiledPoint,
    StepSettings,
    StudyFile,
    StudySettings,
    YamlFile,
    read_yaml,
)

_Step = TypeVar("_Step", bound=StepSettings)

# The columns that an axis of a study may have the name of.
_AXIS_COLUMNS = (*POINT_COLUMNS, GRID_SIZE, "width", "arguments")


@dataclass(frozen=True)
class Study:
    """A study's checked settings, its problem, and its kernels' sources, by name in the order of their story.

    root  the folder that its paths start from
    file  the study's, as messages name it
    """

    name: str
    settings: StudySettings
    problem: Problem
    kernels: Mapping[str, KernelSource]
    root: Path
    file: YamlFile

    def entry(self, kernel: str) -> KernelSettings:
        """A kernel's settings."""
        return next(one for one in self.settings.kernels if one.name == kernel)

    @property
    def compares_times(self) -> bool:
        """Whether its kernels all do the same work, so that the fastest is the best."""
        return self.settings.compares == "times"


def read_study(name: str, root: Path) -> Study:
    """Read a study's file and its problem, and check what concerns the sweep.

    Raises UserError with file, key, value and what is allowed.
    """
    shown = f"config/studies/{name}.yaml"
    return checked_study(name, root, read_yaml(root / shown, shown), shown)


def checked_study(
    name: str,
    root: Path,
    data: Mapping[str, Any],
    shown: str,
    files: Mapping[str, Path] | None = None,
    stands_for: str = "",
    judged: bool = True,
    problem: Problem | None = None,
) -> Study:
    """A study of what its file says, as read_study().

    files       the files of kernels that don't lie in kernels/, by name
    stands_for  the kernel as which the problem's functions know all of them; "" for each by its own name
    judged      whether a function of the problem has to say which results are right
    problem     in place of the one whose file is named
    """
    written, file = StudyFile.read(data, shown), YamlFile(shown, data)
    axes = _axes(written, file)
    for number, group in enumerate(written.tied):
        for axis in group:
            check_known(axis, written.axes, f"{file.at(f'tied.{number}')} has")
    for key, path in (("problem", written.problem), *(("data", path) for path in written.data)):
        if not problem and not (root / path).is_file():
            raise UserError(f"{file.at(key)} is {path!r}, and there is no such file.")
    named = problem.named if problem else Named(file=written.problem, axes=axes, data=[*written.data])
    if stands_for:
        named["kernel"] = stands_for
    if not judged:
        named["judged"] = False
    settings = StudySettings.model_construct(**{**dict(written), "problem": named})
    problem = problem or problem_of(named, root)
    for where, restrictions in (
        ("", settings.restrictions),
        *((f"kernels.{number}.", kernel.restrictions) for number, kernel in enumerate(settings.kernels)),
    ):
        for number, restriction in enumerate(restrictions):
            check_expression(restriction, axes, file.at(f"{where}restrictions.{number}"))
    _check_points(settings, axes, written, file)
    settings = settings.changed(reference=_reference(settings, problem), kinds=axis_kinds(problem))
    for axis in settings.cxx:
        check_known(axis, [name for name, has_texts in axes.items() if has_texts], f"{file.at('cxx')} has")
    kernels = {}
    for entry in settings.kernels:
        source = (files or {}).get(entry.name) or kernel_file(entry, name, root, file.line(f"kernels.{entry.name}"))
        read_source(source)  # Raises UserError where it is no text.
        kernels[entry.name] = kernel = read_kernel(entry, source, problem, settings.cxx, file)
        if kernel.launches.macros and not entry.build:
            where = f"{_place(file, entry.name, 'macros')}: macros has"
            check_macros(kernel.launches.macros, source, [root / HEADERS], entry.options, where)
        if misspelt := kernel.launches.misspelt:
            where = f"{_place(file, entry.name, 'launches')}: a launch has"
            check_macros(misspelt, source, [root / HEADERS], entry.options, where, [*axes])
    of_steps = [axis for axis in problem.axes if axis in _axes_of_steps(written)]
    steps = _complete(settings.steps, of_steps, kernels, settings.axes, file, "steps")
    profiled = _complete(settings.profiled, of_steps, kernels, settings.axes, file, "profiled")
    return Study(name, settings.changed(steps=steps, profiled=profiled), problem, kernels, root, file)


def axis_kinds(problem: Problem) -> dict[str, str]:
    """What each of a problem's axes says, as StudySettings.kinds has it."""
    return {
        axis: "kernel" if of_axis.of_kernel else "size" if axis in problem.size_axes else "condition"
        for axis, of_axis in problem.axes.items()
    }


def read_kernel(
    entry: KernelSettings, path: Path, problem: Problem, cxx: Mapping[str, Mapping[str, str]], file: str
) -> KernelSource:
    """A kernel of a study.

    entry  its settings in the study
    cxx    the study's C++ names of axes' values
    file   the study's file, for messages
    """
    where = partial(_place, file, entry.name)
    if entry.build:
        names = parameters_of(path, f"{where('build')}: {path.name}")
        for name in names:
            check_known(name, [*problem.axes, ARCH], f"{where('build')}: build of {path.name} takes")
        axes = [name for name in problem.axes if name in names]
        entry = entry.changed(macros=axes, gpu_only=entry.gpu_only or f"{path.name} makes GPU code")
    launches = read_launches(entry, problem, cxx, where)
    check_expression(str(entry.roundings), [*problem.axes, LAUNCHES], f"{where('roundings')}: roundings")
    return KernelSource(entry.name, path, problem, launches, missing_package(path) if entry.build else None)


def _place(file: str, kernel: str, key: str) -> str:
    of_key = file.line(f"kernels.{kernel}.{key}") if isinstance(file, YamlFile) else file
    return f"{of_key}: the kernel {kernel!r}"


def _axes_of_steps(settings: StudyFile | StudySettings) -> set[str]:
    """The axes whose values the steps of a study say, besides grid_size."""
    return {"unroll"}.union(*(step.axes for step in (*settings.steps, *settings.profiled)))


def _complete(
    steps: Iterable[_Step],
    axes: Collection[str],
    kernels: Mapping[str, KernelSource],
    values: Mapping[str, Sequence[Any]],
    file: YamlFile,
    key: str,
) -> list[_Step]:
    """The steps with a value on each of these axes, and without a grid size where the kernel's launches need none.

    values  those of the study's axes; a kernel has its own

    Raises UserError if a step's kernel isn't the study's, or lacks the grid size that its launches need.
    """
    completed = []
    for number, step in enumerate(steps):
        where = file.at(f"{key}.{number}")
        check_known(step.kernel, kernels, f"{where} names")
        kernel = kernels[step.kernel]
        if kernel.chooses_grid and step.grid_size is None:
            raise UserError(f"{where} has {step.kernel} without a grid_size, which its launches need.")
        left = [axis for axis in axes if not (isinstance(step, ProfiledPoint) and axis in step.at)]
        first = {axis: next(iter(kernel.entry.axes.get(axis) or values[axis])) for axis in left}
        grid_size = step.grid_size if kernel.chooses_grid else None
        completed.append(step.changed(**{**first, **step.axes, GRID_SIZE: grid_size}))
    return completed


def kernel_of_job(
    file: str, named: Named, settings: Mapping[str, Any], cxx: Mapping[str, Any], study_file: str
) -> KernelSource:
    """The kernel in a file, for a job.

    named       its problem
    settings    its settings in the study, as plain values
    cxx         the study's C++ names of axes' values
    study_file  for messages
    """
    problem = problem_of(named, Path.cwd())
    return read_kernel(KernelSettings.of_job(settings), Path(file).resolve(), problem, cxx, study_file)


def _points(settings: StudySettings) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if settings.search:
        yield "search.at", settings.search.at
    yield "reference", settings.reference
    for number, profiled in enumerate(settings.profiled):
        yield f"profiled.{number}.at", profiled.at
    for key, steps in (("steps", settings.steps), ("profiled", settings.profiled)):
        for number, step in enumerate(steps):
            yield f"{key}.{number}", step.axes
            yield f"{key}.{number}", {GRID_SIZE: step.grid_size} if step.grid_size is not None else {}
    for number, claim in enumerate(settings.claims):
        yield f"claims.{number}.at", claim.at
        for axis, value in (claim.model_extra or {}).items():
            yield f"claims.{number}", {axis.removeprefix("reference_"): value}


def _check_points(settings: StudySettings, axes: Mapping[str, bool], written: StudyFile, file: YamlFile) -> None:
    """Raise UserError for a point that the study names with an axis or a value that the study hasn't."""
    values = {axis: {value: None for _, given in _with_axes(written) for value in given.get(axis, ())} for axis in axes}
    values["cache"] |= dict.fromkeys(CACHE_STATES)
    for where, point in _points(settings):
        for axis, value in point.items():
            check_known(axis, axes, f"{file.at(where)} has")
            if where == "search.at" and isinstance(value, str) == axes[axis]:
                values[axis][value] = None  # It may be a new one.
            elif axis != GRID_SIZE:
                check_known(value, values[axis], f"{file.at(f'{where}.{axis}')} is")


def _with_axes(settings: StudyFile) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every place of a study that gives axes values, with its key."""
    layers: list[tuple[str, AxesLayer]] = [("", settings)]
    for key in ("kernels", "further", "rivals"):
        layers += [(f"{key}.{number}.", entry) for number, entry in enumerate(getattr(settings, key))]
    for where, entry in layers:
        yield f"{where}axes", entry.axes
        for platform, of_platform in entry.platforms.items():
            yield f"{where}platforms.{platform}.axes", of_platform.axes


def _axes(settings: StudyFile, file: YamlFile) -> dict[str, bool]:
    """The axes of a study, each with whether its values are words: the cache state first, then its own in their order.

    Raises UserError for an axis whose name means something else, that only some layer has, or with words and numbers.
    """
    kinds_of_axes = {"cache": True}
    for where, axes in _with_axes(settings):
        for name, values in axes.items():
            if name in FUNCTIONS or (name in MEASUREMENT_COLUMNS and name not in _AXIS_COLUMNS):
                meaning = "a function of expressions" if name in FUNCTIONS else "a column of measurements.csv"
                raise UserError(f"{file.at(where)} has {name!r}, which is {meaning}. Choose another name.")
            check_known(name, [*settings.axes, "cache"], f"{file.at(f'{where}.{name}')} has")
            kinds = {isinstance(value, str) and name != GRID_SIZE for value in values}
            if len(kinds) > 1 or (name in kinds_of_axes and kinds_of_axes[name] not in kinds):
                raise UserError(f"{file.at(f'{where}.{name}')} has words and numbers. Allowed: one or the other.")
            kinds_of_axes.setdefault(name, kinds.pop())
    return kinds_of_axes


def _reference(settings: StudySettings, problem: Problem) -> dict[str, Any]:
    """The reference point's value on every axis.

    In a study with steps it may leave out the axes that steps have, and where outputs are compared, any other axis.
    """
    given, of_steps = settings.reference, {*_axes_of_steps(settings), GRID_SIZE}
    may_leave_out = of_steps if settings.compares == "times" else {*problem.axes} - {"cache"}
    first = {name: values[0] for name, values in settings.axes.items()}
    return {
        name: given.get(name, first.get(name, CACHE_STATES[0]))
        for name in problem.axes
        if name in given or not (settings.steps and name in may_leave_out)
    }
