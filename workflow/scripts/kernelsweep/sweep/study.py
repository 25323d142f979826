"""Read a study: config/studies/<study>.yaml, its problem, and the kernels that it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# schema.check() would import it in each job that reads a kernel, not once in the process that forks them.
import jsonschema  # noqa: F401

from kernelsweep.errors import UserError, nearest
from kernelsweep.home import HEADERS, HOME, SCHEMAS
from kernelsweep.problems.problem_file import Named, Problem, name_problem, problem_of
from kernelsweep.results import MEASUREMENT_COLUMNS, POINT_COLUMNS
from kernelsweep.sweep.axes import CACHE_STATES, read_values
from kernelsweep.sweep.config_file import check_restrictions
from kernelsweep.sweep.expressions import FUNCTIONS, NUMBER, check_kind
from kernelsweep.sweep.kernels.constants import check_constants
from kernelsweep.sweep.kernels.launches import read_launches
from kernelsweep.sweep.kernels.leading_comments import line_number
from kernelsweep.sweep.kernels.source import (
    GRID_SIZE,
    LAUNCHES,
    KernelSource,
    included_files,
    kernel_file,
    read_source,
)
from kernelsweep.sweep.schema import check
from kernelsweep.sweep.study_quantities import check_quantities
from kernelsweep.sweep.yaml_files import read_yaml

# The schema of a study's kernel, whose defaults are the settings of a kernel that a study doesn't name.
KERNEL_SCHEMA = SCHEMAS / "kernel.schema.yaml"

# The axes whose values a step says.
OF_STEPS = ("unroll", GRID_SIZE)

# The columns that an axis of a study may have the name of.
_AXIS_COLUMNS = (*POINT_COLUMNS, GRID_SIZE, "width", "arguments")

# A macro's definition in a kernel's file, and what makes way for another one.
_DEFINITION = r"^[ \t]*#[ \t]*define[ \t]+({name})\b"
_GUARD = r"^[ \t]*#[ \t]*(?:ifndef[ \t]+{name}\b|undef[ \t]+{name}\b|(?:el)?if\b.*\bdefined\b[ \t(]*{name}\b)"


@dataclass(frozen=True)
class Study:
    """A study's checked settings, its problem, and its kernels' sources, by name in the order of their story."""

    name: str
    settings: Mapping[str, Any]
    problem: Problem
    kernels: Mapping[str, KernelSource]

    @property
    def file(self) -> str:
        """The study's file, as messages name it."""
        return f"config/studies/{self.name}.yaml"

    def entry(self, kernel: str) -> Mapping[str, Any]:
        """A kernel's checked settings."""
        entry: Mapping[str, Any] = next(one for one in self.settings["kernels"] if one["name"] == kernel)
        return entry

    @property
    def compares_times(self) -> bool:
        """Whether its kernels all do the same work, so that the fastest is the best."""
        return bool(self.settings["compares"] == "times")


def read_study(name: str, root: Path, known: Mapping[str, Iterable[str]]) -> Study:
    """Read a study's file and its problem, and check what concerns the sweep.

    known  the names that later stages know, by kind, as schema.check() takes them

    Raises UserError with file, key, value and what is allowed.
    """
    shown = f"config/studies/{name}.yaml"
    settings = check(read_yaml(root / shown, shown), SCHEMAS / "study.schema.yaml", shown, known)
    with_axes = list(_with_axes(settings))
    for where, values in with_axes:
        read_values(values, f"{shown}: {where}")
    axes = _axes(settings, with_axes, shown)
    texts = {axis for axis, has_texts in axes.items() if has_texts}
    for place, where in ((settings, ""), *((entry, f"kernels.{n}.") for n, entry in enumerate(settings["kernels"]))):
        check_restrictions(place, axes, f"{shown}: {where}" if where else shown, texts)
    _check_tied(settings, shown)
    file = settings["problem"]
    if not (root / file).is_file():
        raise UserError(f"{shown}: problem is {file!r}, and there is no such file.")
    for data in settings["data"]:
        if not (root / data).is_file():
            raise UserError(f"{shown}: data has {data!r}, and there is no such file.")
    settings["problem"] = name_problem(file, axes, settings["data"])
    problem = problem_of(settings["problem"], root)
    settings["reference"] = _reference(settings, problem, shown)
    check_quantities(settings, problem, texts, shown)
    if settings["search"]:
        settings["search"]["at"] = _search_place(settings, axes, shown)
    settings["figures"], settings["figure_axes"] = _figures(settings["figures"], shown)
    settings["rival_calls"] = _rival_calls(settings["rivals"], shown)
    settings["rivals"] = [*settings["rival_calls"]]
    _check_names(settings["cxx"], axes, f"{shown}: cxx")
    kernels = {}
    for entry in settings["kernels"]:
        if entry["name"] in kernels:
            raise UserError(f"{shown}: kernels lists {entry['name']!r} twice.")
        path = kernel_file(entry, name, root, shown)
        read_source(path)  # Raises UserError where it is no text.
        kernels[entry["name"]] = read_kernel(entry, path, problem, settings["cxx"], shown)
    _check_steps(settings, kernels, shown)
    for key in ("profiled", "claims"):
        for number, point in enumerate(settings[key]):
            point["at"] = _values_of(point["at"], axes, f"{shown}: {key}.{number}.at")
    return Study(name, settings, problem, kernels)


def read_kernel(
    entry: Mapping[str, Any], path: Path, problem: Problem, cxx: Mapping[str, Mapping[str, str]], shown: str
) -> KernelSource:
    """A kernel of a study.

    entry  its checked settings in the study
    cxx    the study's C++ names of axes' values
    shown  the study's file, for messages
    """
    where = f"{shown}: the kernel {entry['name']!r}"
    check_constants(entry["constants"], path, where)
    launches = read_launches(entry, problem, cxx, where)
    _check_macros(launches.macros, path, where)
    try:
        check_kind(str(entry["roundings"]), [*problem.axes, LAUNCHES], NUMBER, _texts(problem))
    except UserError as error:
        raise UserError(f"{where}: roundings: {error}") from error
    return KernelSource(
        name=entry["name"],
        path=path,
        problem=problem,
        launches=launches,
        roundings=str(entry["roundings"]),
        restrictions=tuple(entry["restrictions"]),
        undefined_behaviour=entry["undefined_behaviour"],
        smallest_architecture=entry["smallest_architecture"],
        gpu_only=entry["gpu_only"],
        options=tuple(entry["options"]),
        acknowledged=entry["acknowledged"],
    )


def _texts(problem: Problem) -> list[str]:
    return [name for name, axis in problem.axes.items() if axis.has_texts]


def _check_steps(settings: Mapping[str, Any], kernels: Mapping[str, KernelSource], shown: str) -> None:
    """Raise UserError if a step's kernel isn't the study's, or lacks the grid size that its launches need.

    A step whose launches need none loses it.
    """
    for key in ("steps", "profiled"):
        for number, step in enumerate(settings[key]):
            if step["kernel"] not in kernels:
                guess = nearest(step["kernel"], kernels) or ";"
                raise UserError(
                    f"{shown}: {key}.{number} names {step['kernel']!r}{guess} Its kernels: {', '.join(kernels)}."
                )
            if not kernels[step["kernel"]].chooses_grid:
                step["grid_size"] = None
            elif step["grid_size"] is None:
                raise UserError(
                    f"{shown}: {key}.{number} has {step['kernel']} without a grid_size, which its launches need."
                )


def _check_names(names: Mapping[str, Mapping[str, str]], axes: Mapping[str, bool], where: str) -> None:
    """Raise UserError for C++ names of an axis that the study hasn't, or that has numbers."""
    for axis in names:
        if not axes.get(axis):
            known = [name for name, has_texts in axes.items() if has_texts]
            guess = nearest(axis, known) or ";"
            raise UserError(f"{where} has {axis!r}{guess} Axes with words: {', '.join(known)}.")


def _check_macros(names: Iterable[str], path: Path, where: str) -> None:
    """Raise UserError for a macro that a kernel's file, or a file that it includes, defines in any case.

    where  the kernel's place in messages

    The compilers only warn of that, and every variant would have the file's value.
    """
    texts: dict[Path, str] = {}
    for name in names:
        if not texts:
            folders = [path.parents[1] / "include", HOME / HEADERS]
            texts = {file: read_source(file) for file in (path, *included_files(path, folders))}
        for file, text in texts.items():
            defined = re.search(_DEFINITION.format(name=name), text, re.MULTILINE)
            if defined and not re.search(_GUARD.format(name=name), text, re.MULTILINE):
                line = line_number(text, defined.start(1))
                raise UserError(
                    f"{where}: macros has {name!r}, and {file.name}, line {line}, defines {name}, too: every variant "
                    f"would have that value. Delete the line, or put it between #ifndef {name} and #endif."
                )


def kernel_of_job(
    named: Named, settings: Mapping[str, Any], cxx: Mapping[str, Any], path: Path, root: Path, study: str
) -> KernelSource:
    """The kernel in a file, for a job.

    named     its problem
    settings  its checked settings in the study
    cxx       the study's C++ names of axes' values
    study     the study's name, for messages
    """
    return read_kernel(settings, path, problem_of(named, root), cxx, f"config/studies/{study}.yaml")


def _rival_calls(entries: Iterable[Mapping[str, Any]], shown: str) -> dict[str, Mapping[str, Any]]:
    """The entries of rivals by the name of the library's function, which they call as name<words>."""
    calls: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        name = entry["call"].partition("<")[0].strip()
        if name in calls:
            raise UserError(f"{shown}: rivals lists {name!r} twice.")
        calls[name] = entry
    return calls


def _with_axes(settings: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Every place of a study that gives axes values, with its key."""
    layers = [("", settings)]
    for key in ("kernels", "further", "rivals"):
        layers += [(f"{key}.{number}.", entry) for number, entry in enumerate(settings[key])]
    for where, entry in layers:
        yield f"{where}axes", entry["axes"]
        for platform, of_platform in entry["platforms"].items():
            yield f"{where}platforms.{platform}.axes", of_platform["axes"]


def _axes(
    settings: Mapping[str, Any], layers: Iterable[tuple[str, Mapping[str, Sequence[Any]]]], shown: str
) -> dict[str, bool]:
    """The axes of a study, each with whether its values are words: the cache state first, then its own in their order.

    Raises UserError for an axis whose name means something else, that only some layer has, or with words and numbers.
    """
    found = {"cache": True}
    for where, axes in layers:
        for name, values in axes.items():
            if name in FUNCTIONS or (name in MEASUREMENT_COLUMNS and name not in _AXIS_COLUMNS):
                raise UserError(f"{shown}: {where} has {name!r}, which has another meaning. Choose another name.")
            if name not in (*settings["axes"], "cache"):
                guess = nearest(name, settings["axes"]) or ";"
                raise UserError(
                    f"{shown}: {where} has {name!r}, but the study's axes have no such axis{guess} "
                    f"Its axes: {', '.join(settings['axes'])}."
                )
            kinds = {isinstance(value, str) and name != GRID_SIZE for value in values}
            if len(kinds) > 1 or (name in found and found[name] not in kinds):
                raise UserError(f"{shown}: {where}.{name} has words and numbers. Allowed: one or the other.")
            found.setdefault(name, kinds.pop())
    return found


def _check_tied(settings: Mapping[str, Any], shown: str) -> None:
    """Raise UserError for tied axes that the study hasn't, that stand in two groups, or of unequal lengths."""
    seen: set[str] = set()
    for number, group in enumerate(settings["tied"]):
        for name in group:
            if name not in settings["axes"]:
                guess = nearest(name, settings["axes"]) or ";"
                raise UserError(f"{shown}: tied.{number} has {name!r}{guess} Axes: {', '.join(settings['axes'])}.")
            if name in seen:
                raise UserError(f"{shown}: tied.{number} has {name!r}, which another group has, too.")
            seen.add(name)
        for where, axes in _with_axes(settings):
            lengths = {name: len(axes[name]) for name in group if name in axes}
            if lengths and (len(lengths) < len(group) or len(set(lengths.values())) > 1):
                raise UserError(
                    f"{shown}: {where}: {', '.join(group)} are tied, so each needs as many values as the others. "
                    f"Found: {', '.join(f'{name} {lengths.get(name, 0)}' for name in group)}."
                )


def _figures(entries: Iterable[str | Mapping[str, Mapping[str, str]]], shown: str) -> tuple[list[str], dict[str, Any]]:
    """The names of figures, and the axes that entries such as `lines: {x: n}` name, by figure."""
    names: list[str] = []
    axes: dict[str, Any] = {}
    for number, entry in enumerate(entries):
        chosen = {entry: {}} if isinstance(entry, str) else entry
        if len(chosen) != 1 or (names and set(chosen) & set(names)):
            raise UserError(f"{shown}: figures.{number} is {entry}. Allowed: one figure, which no other entry has.")
        names += chosen
        axes |= {name: dict(of_figure) for name, of_figure in chosen.items() if of_figure}
    return names, axes


def _search_place(settings: Mapping[str, Any], axes: Mapping[str, bool], shown: str) -> dict[str, Any]:
    """The values of axes at which a search takes place. Raises UserError where axes tied to one of them are missing."""
    at = _values_of(settings["search"]["at"], axes, f"{shown}: search.at")
    for group in settings["tied"]:
        there = [name for name in group if name in at]
        if there and len(there) < len(group):
            missing = next(name for name in group if name not in at)
            raise UserError(f"{shown}: search.at has no {missing!r}, which is tied to {', '.join(there)}.")
    return at


def _reference(settings: Mapping[str, Any], problem: Problem, shown: str) -> dict[str, Any]:
    """The reference point's value on every axis.

    In a study with steps it may leave out the axes that steps have, and where outputs are compared, any axis.
    """
    given = _values_of(settings["reference"], problem.named["axes"], f"{shown}: reference")
    first = {name: values[0] for name, values in settings["axes"].items()}
    return {
        name: given.get(name, first.get(name, CACHE_STATES[0]))
        for name in problem.axes
        if name in given or not (settings["compares"] == "outputs" or (settings["steps"] and name in OF_STEPS))
    }


def _values_of(point: Mapping[str, Any], axes: Mapping[str, bool], where: str) -> dict[str, Any]:
    """A point's values, with sizes as numbers. Raises UserError for an axis that the study hasn't."""
    for name in point:
        if name not in axes:
            guess = nearest(name, axes) or ";"
            raise UserError(f"{where} has {name!r}{guess} Axes: {', '.join(axes)}.")
    values = {name: [value] for name, value in point.items()}
    read_values(values, where)
    return {name: value for name, [value] in values.items()}
