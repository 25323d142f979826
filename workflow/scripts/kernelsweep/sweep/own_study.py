"""Read a study whose problem is a Python file: axes of any name, and kernels with the launches that they list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# schema.check() would import it in each job that reads a kernel, not once in the process that forks them.
import jsonschema  # noqa: F401

from kernelsweep.errors import UserError, nearest
from kernelsweep.home import HEADERS, HOME, SCHEMAS
from kernelsweep.problems.problem import Axis, Problem
from kernelsweep.problems.registry import Named, name_file, problem_of
from kernelsweep.results import MEASUREMENT_COLUMNS, POINT_COLUMNS
from kernelsweep.sweep.axes import CACHE_STATES, read_values
from kernelsweep.sweep.config_file import check_restrictions
from kernelsweep.sweep.expressions import FUNCTIONS
from kernelsweep.sweep.kernels.constants import check_constants
from kernelsweep.sweep.kernels.launch_function import LaunchFunction
from kernelsweep.sweep.kernels.launch_list import LaunchList, read_launches, read_macros
from kernelsweep.sweep.kernels.leading_comments import line_number
from kernelsweep.sweep.kernels.source import KernelSource, included_files, kernel_file, read_source
from kernelsweep.sweep.kernels.template import read_kernel
from kernelsweep.sweep.schema import check
from kernelsweep.sweep.study_quantities import check_quantities

# What readers of results ask of every study, and no study with a problem of its own has.
_WITHOUT: Mapping[str, Any] = {
    "baselines": [],
    "metrics": [],
    "profiled": [],
    "ladder": [],
    "published": None,
}


# What a claim about a shipped problem says besides: here, the best configurations are compared.
_OF_CLAIM: Mapping[str, Any] = {"unroll": 1, "reference_unroll": 1, "arguments": ""}

# The settings of a kernel that nothing sets.
NO_SETTINGS: Mapping[str, Any] = {
    "macros": [],
    "options": [],
    "constants": [],
    "undefined_behaviour": None,
    "acknowledged": {},
    "smallest_architecture": None,
    "gpu_only": None,
}

# A macro's definition in a kernel's file, and what makes way for another one.
_DEFINITION = r"^[ \t]*#[ \t]*define[ \t]+({name})\b"
_GUARD = r"^[ \t]*#[ \t]*(?:ifndef[ \t]+{name}\b|undef[ \t]+{name}\b|(?:el)?if\b.*\bdefined\b[ \t(]*{name}\b)"


def read_own_study(
    raw: Mapping[str, Any], name: str, root: Path, shown: str, known: Mapping[str, Iterable[str]]
) -> tuple[dict[str, Any], Problem, dict[str, KernelSource]]:
    """The checked settings, the problem and the kernels of a study, from what its file says.

    known  the names that later stages know, as read_study() takes them

    Raises UserError with file, key, value and what is allowed.
    """
    settings = {**_WITHOUT, **check(raw, SCHEMAS / "own_study.schema.yaml", shown, known)}
    with_axes = list(_with_axes(settings))
    for where, values in with_axes:
        read_values(values, f"{shown}: {where}")
    axes = _axes(settings, with_axes, shown)
    texts = {axis for axis, of_axis in axes.items() if of_axis.has_texts}
    check_restrictions(settings, axes, shown, texts)
    _check_tied(settings, shown)
    file = settings["problem"]
    if not (root / file).is_file():
        raise UserError(f"{shown}: problem is {file!r}, and there is no such file.")
    for data in settings["data"]:
        if not (root / data).is_file():
            raise UserError(f"{shown}: data has {data!r}, and there is no such file.")
    settings["problem"] = name_file(file, axes, settings["data"])
    problem = problem_of(settings["problem"], root)
    settings["reference"] = _reference(settings, axes, shown)
    check_quantities(settings, problem, texts, shown)
    if settings["search"]:
        settings["search"]["at"] = _search_place(settings, axes, shown)
    settings["figures"], settings["figure_axes"] = _figures(settings["figures"], shown)
    settings["rival_calls"] = _rival_calls(settings["rivals"], shown)
    settings["rivals"] = [*settings["rival_calls"]]
    settings["claims"] = [{**_OF_CLAIM, **entry} for entry in settings["claims"]]
    kernels = {}
    for entry in settings["kernels"]:
        if entry["name"] in kernels:
            raise UserError(f"{shown}: kernels lists {entry['name']!r} twice.")
        kernels[entry["name"]] = own_kernel(entry, kernel_file(entry, name, root, shown), problem, shown)
    return settings, problem, kernels


def own_kernel(entry: Mapping[str, Any], path: Path, problem: Problem, shown: str) -> KernelSource:
    """A kernel of a study with a problem of its own.

    entry  its checked settings in the study
    """
    where = f"{shown}: the kernel {entry['name']!r}"
    texts = {axis for axis, of_axis in problem.axes.items() if of_axis.has_texts}
    check_constants(entry["constants"], path, where)
    if entry["launches"]:
        listed: LaunchList | LaunchFunction = read_launches(
            entry["launches"], entry["macros"], entry["constants"], entry["name"], problem.axes, texts, where
        )
    elif problem.launches:
        macros = read_macros(entry["macros"], problem.axes, texts, where)
        listed = LaunchFunction(problem, entry["name"], macros, tuple(entry["constants"]))
    else:
        raise UserError(
            f"{where} has no launches. List them in the study, or have {problem.name} return them from a function "
            "launches."
        )
    _check_macros(listed.macros, path, where)
    return KernelSource(
        name=entry["name"],
        path=path,
        problem=problem,
        template_parameters=(),
        plan="",
        input_is_const=False,
        block_size="any",
        smallest_block_size=1,
        largest_block_size=1024,
        unroll=(),
        dtypes=(),
        operations=(),
        shared_elements="0",
        summation_depth="0",
        undefined_behaviour=entry["undefined_behaviour"],
        smallest_architecture=entry["smallest_architecture"],
        gpu_only=entry["gpu_only"],
        listed=listed,
        options=tuple(entry["options"]),
        acknowledged=entry["acknowledged"],
    )


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


def kernel_of_job(named: Named, settings: Mapping[str, Any], path: Path, root: Path, study: str) -> KernelSource:
    """The kernel in a file, for a job.

    named     its problem
    settings  its checked settings in the study
    study     the study's name, for messages
    """
    problem = problem_of(named, root)
    read = read_kernel if problem.described is None else own_kernel
    return read(settings, path, problem, f"config/studies/{study}.yaml")


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
) -> dict[str, Axis]:
    """The axes of a study: the cache state first, then its own in their order.

    Raises UserError for an axis whose name means something else, that only some layer has, or with words and numbers.
    """
    found = {"cache": Axis(has_texts=True, in_variant=False)}
    for where, axes in layers:
        for name, values in axes.items():
            if name in FUNCTIONS or (name in MEASUREMENT_COLUMNS and name not in (*POINT_COLUMNS, "width")):
                raise UserError(f"{shown}: {where} has {name!r}, which has another meaning. Choose another name.")
            if name not in (*settings["axes"], "cache"):
                guess = nearest(name, settings["axes"]) or ";"
                raise UserError(
                    f"{shown}: {where} has {name!r}, but the study's axes have no such axis{guess} "
                    f"Its axes: {', '.join(settings['axes'])}."
                )
            kinds = {isinstance(value, str) for value in values}
            if len(kinds) > 1 or (name in found and found[name].has_texts not in kinds):
                raise UserError(f"{shown}: {where}.{name} has words and numbers. Allowed: one or the other.")
            found.setdefault(name, Axis(has_texts=kinds.pop()))
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


def _search_place(settings: Mapping[str, Any], axes: Mapping[str, Axis], shown: str) -> dict[str, Any]:
    """The values of axes at which a search takes place. Raises UserError where axes tied to one of them are missing."""
    at = _values_of(settings["search"]["at"], axes, f"{shown}: search.at")
    for group in settings["tied"]:
        there = [name for name in group if name in at]
        if there and len(there) < len(group):
            missing = next(name for name in group if name not in at)
            raise UserError(f"{shown}: search.at has no {missing!r}, which is tied to {', '.join(there)}.")
    return at


def _reference(settings: Mapping[str, Any], axes: Mapping[str, Axis], shown: str) -> dict[str, Any]:
    """The reference point's value on every axis."""
    given = _values_of(settings["reference"], axes, f"{shown}: reference")
    first = {name: values[0] for name, values in settings["axes"].items()}
    return {name: given.get(name, first.get(name, CACHE_STATES[0])) for name in axes}


def _values_of(point: Mapping[str, Any], axes: Mapping[str, Axis], where: str) -> dict[str, Any]:
    """A point's values, with sizes as numbers. Raises UserError for an axis that the study hasn't."""
    for name in point:
        if name not in axes:
            guess = nearest(name, axes) or ";"
            raise UserError(f"{where} has {name!r}{guess} Axes: {', '.join(axes)}.")
    values = {name: [value] for name, value in point.items()}
    read_values(values, where)
    return {name: value for name, [value] in values.items()}
