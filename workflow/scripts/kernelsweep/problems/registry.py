"""The problems that studies name: those that ship, by name, and Python files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelsweep.problems.exchange import EXCHANGE
from kernelsweep.problems.own.doubts import doubts
from kernelsweep.problems.own.problem_file import read_problem_file
from kernelsweep.problems.problem import Axis, Problem
from kernelsweep.problems.reduction import REDUCTION

PROBLEMS: Mapping[str, Problem] = {problem.name: problem for problem in (REDUCTION, EXCHANGE)}

# Every axis that some shipped problem has, by name.
ALL_AXES: Mapping[str, Axis] = {name: axis for problem in PROBLEMS.values() for name, axis in problem.axes.items()}

# A problem as settings and tasks name it: the name of one that ships, or a file with the study's axes, each with
# whether its values are words, and with the data files that it reads.
Named = str | Mapping[str, Any]

# Where references are kept that the functions of problem files have computed, below the folder of results.
_REFERENCES = Path("results/references")


def name_file(file: str, axes: Mapping[str, Axis], data: Sequence[str]) -> dict[str, Any]:
    """A problem file as settings and tasks name it; `axes` are the study's, and `data` the files that it reads."""
    return {"file": file, "axes": {name: axis.has_texts for name, axis in axes.items()}, "data": [*data]}


def problem_of(named: Named, root: Path = Path()) -> Problem:
    """The problem that settings or a task name.

    root  the folder that a problem file's path starts from

    Raises UserError, naming the file, where a problem file is wrong.
    """
    if isinstance(named, str):
        return PROBLEMS[named]
    return _of_file(named["file"], tuple(named["axes"].items()), named.get("data", []), root)


def _of_file(file: str, axes: tuple[tuple[str, bool], ...], data: Sequence[str], root: Path) -> Problem:
    problem = read_problem_file(root / file, file, dict(axes), [root / name for name in data])
    folder = root / _REFERENCES / file.replace("/", "-").removesuffix(".py")
    return Problem(
        name=file,
        axes={name: _axis(name, has_texts, problem.size_axes) for name, has_texts in axes},
        template_parameters={},
        template_values=lambda point: {},
        plans=(),
        wrong_value=lambda template_parameters, axis, value: None,
        skip_reason=lambda kernel, point: None,
        make_instance=lambda kernel, point, longest, seed: problem.instance(point, seed, folder),
        instance_axes=problem.data_axes,
        work=problem.work,
        races=True,
        draws_accesses=True,
        table="configurations",
        size_axes=problem.size_axes,
        lists_excluded=False,
        described={"file": file, "axes": dict(axes), "data": [*data]},
        files=problem.files,
        references=folder,
        prepare=lambda point, seed: problem.instance(point, seed, folder).expect(point),
        doubts=lambda point, seed: doubts(problem.instance(point, seed, folder), point),
        launches=problem.launches if "launches" in problem.functions else None,
        launch_axes=problem.launch_axes,
    )


def _axis(name: str, has_texts: bool, size_axes: Sequence[str]) -> Axis:
    """An axis of a study with a problem file. One that no input depends on says how a kernel is built or launched."""
    is_condition = name == "cache"
    return Axis(of_kernel=not is_condition and name not in size_axes, in_variant=not is_condition, has_texts=has_texts)
