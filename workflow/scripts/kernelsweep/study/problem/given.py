"""A problem given as Python functions, in a notebook or a test, instead of a file.

The functions are called here, where they are defined, whatever they refer to. A process that runs points gets what they
returned: a problem file whose functions look it up by what they are given. So an identity has the values, and a kept
result is used again only while they are the same, however they came about.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.study.problem.file_instance import FileInstance, Inputs, generator, make_instance
from kernelsweep.study.problem.problem import Point
from kernelsweep.study.problem.problem_file import Named, Problem
from kernelsweep.study.problem.user_module import UserModule, read_functions
from kernelsweep.tensors import as_array

_CALLS = "calls.pickle"
_FILE = "problem.py"


@dataclass(frozen=True, eq=False)
class GivenProblem(Problem):
    """A problem whose functions are objects of this process; `calls` are those so far, by their keys."""

    calls: dict[str, Any] = field(default_factory=dict)
    named_by: dict[str, list[str]] = field(default_factory=dict)

    def instance(self, kernel: str, point: Point, seed: int) -> FileInstance:
        """As of a file's problem; nothing is kept on disk."""
        values = {axis: point[axis] for axis in self.instance_axes}
        of_inputs = {axis: values[axis] for axis in self._named_axes(["inputs"])}
        inputs = Inputs(self.functions.get("inputs"), kernel, seed, of_inputs)
        return make_instance(kernel, self.functions, values, inputs, None, [*self.named["axes"]])

    def for_workers(self, root: Path, kernel: str, points: Iterable[Point], seeds: Iterable[int]) -> Named:
        """As of a file's problem; the file is written into `root`."""
        # Each set of values of the axes that data depend on, once.
        for point in {self.data_of(point): point for point in points}.values():
            for seed in seeds:
                instance = self.instance(kernel, point, seed)
                instance.check()
                instance.arrays()
                if "error_bound" in self.functions:
                    instance.bounds()
        root.mkdir(parents=True, exist_ok=True)
        (root / _CALLS).write_bytes(pickle.dumps(self.calls))
        text = "from kernelsweep.study.problem.given import kept_call\n"
        for name, function in self.functions.items():
            parameters = ", ".join(self.named_by.get(name, function.parameters))
            text += f'\n\ndef {name}({parameters}):\n    return kept_call(__file__, "{name}", locals())\n'
        (root / _FILE).write_text(text, encoding="utf-8")
        return {**self.named, "file": _FILE, "data": [_CALLS], "root": str(root.resolve())}


def given_problem(functions: Mapping[str, Callable[..., Any]], axes: Mapping[str, bool]) -> GivenProblem:
    """The problem of these functions, by the names that they have in a problem file.

    axes  each with whether its values are words

    Raises UserError for a function that names what it can't get. Without a reference, results are not judged.
    """
    calls: dict[str, Any] = {}
    named_by: dict[str, list[str]] = {}

    def noted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(**arguments: Any) -> Any:
            key = call_key(name, arguments)
            named_by[name] = [*arguments]
            if key not in calls:
                calls[key] = function(**arguments)
            return calls[key]

        call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return call

    first = next(iter(functions.values()))
    try:
        file = Path(inspect.getsourcefile(first) or "functions")
    except TypeError:
        file = Path("functions")
    names = {name: noted(name, function) for name, function in functions.items()}
    module = UserModule("the study", (file.absolute(),), names, may_read=True)
    judged = "reference" in functions
    named = Named(file=_FILE, axes=dict(axes), data=[])
    if not judged:
        named["judged"] = False
    return GivenProblem(named, module, read_functions(module, axes, judged), Path(), calls=calls, named_by=named_by)


def check_same(first: Problem, other: Problem) -> None:
    """Raise UserError where two problems compute different things, as far as their functions were called."""
    names = ("inputs", "outputs", "scratch", "reference")
    given = [problem for problem in (first, other) if isinstance(problem, GivenProblem)]
    values = [{key: call_key("", value) for key, value in problem.calls.items()} for problem in given]
    keys = set.intersection(*map(set, values)) if values else set()
    differ = {name for name in names if (name in first.functions) is not (name in other.functions)}
    differ |= {key.partition(" ")[0] for key in keys if len({found[key] for found in values}) > 1}
    if which := next((name for name in names if name in differ), ""):
        raise UserError(
            f"the two studies compute different things: `{which}` differs. Kernels are compared that get the same "
            "inputs, and owe the same outputs."
        )


def outputs_of(
    inputs: Callable[..., Any], reference: Callable[..., Any], dtypes: Mapping[str, str], axes: Iterable[str]
) -> Callable[..., Any]:
    """The function `outputs` that follows from the others: the reference's shapes, with the kernel's types."""
    of_inputs, of_reference = ([*inspect.signature(one).parameters] for one in (inputs, reference))
    named = [axis for axis in axes if axis in (*of_inputs, *of_reference)]

    def outputs(**values: Any) -> Any:
        of_these = {axis: value for axis, value in values.items() if axis in of_inputs}
        random = {"random": generator("inputs", 0, of_these)} if "random" in of_inputs else {}
        made = inputs(**of_these, **random)
        given = {name: np.resize(one[1], one[0]) if isinstance(one, tuple) else one for name, one in made.items()}
        right = reference(**{name: value for name, value in {**values, **given}.items() if name in of_reference})
        for name in right:
            if name not in dtypes:
                raise UserError(f"reference returns {name!r}. The kernel may write {', '.join(dtypes) or 'nothing'}.")
        return {name: (np.shape(as_array(value)), dtypes[name]) for name, value in right.items()}

    parameters = [inspect.Parameter(axis, inspect.Parameter.KEYWORD_ONLY) for axis in named]
    outputs.dtypes = dict(dtypes)  # type: ignore[attr-defined]
    outputs.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return outputs


def kept_call(file: str, name: str, arguments: Mapping[str, Any]) -> Any:
    """What a function returned for these arguments, from beside the problem file that stands for it."""
    calls = Path(file).with_name(_CALLS)
    return _calls(calls, calls.stat().st_mtime_ns)[call_key(name, arguments)]


@lru_cache(maxsize=2)
def _calls(file: Path, changed: int) -> dict[str, Any]:
    found: dict[str, Any] = pickle.loads(file.read_bytes())
    return found


def call_key(name: str, arguments: Mapping[str, Any]) -> str:
    """A function's name, and the SHA-256 of what it is given."""
    digest = hashlib.sha256()
    _add(digest, arguments)
    return f"{name} {digest.hexdigest()}"


def _add(digest: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for name in sorted(value):
            digest.update(f"{name}:".encode())
            _add(digest, value[name])
    elif isinstance(value, np.random.Generator):
        digest.update(repr(value.bit_generator.state).encode())
    elif isinstance(value, np.ndarray | np.generic):
        digest.update(f"{value.dtype} {value.shape} ".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        digest.update(pickle.dumps(value))
