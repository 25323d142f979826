"""A study as a Python object, for notebooks and tests: the same as its three files, and one way to write these.

assert ks.check("axpy.cu", inputs=inputs, reference=reference, error_bound=error_bound).right
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import os
import re
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import yaml

from kernelsweep.base.plain_files import write_texts
from kernelsweep.base.user_cache import cache_folder
from kernelsweep.errors import UserError
from kernelsweep.project.check import Given, check_file, folders_in, guessed_functions, launch_in_words, launch_of
from kernelsweep.project.check_points import default_points
from kernelsweep.project.checked import Checked, judged, seen
from kernelsweep.project.guess import Guess, guess
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.problem.given import given_problem, outputs_of
from kernelsweep.study.study import Study as CheckedStudy
from kernelsweep.study.study import checked_study
from kernelsweep.sweep.sweep_kernel import Swept, ToDecide, sweep_kernel, swept

if TYPE_CHECKING:
    import pandas

    from kernelsweep.project.compared import Compared

# What a problem's function may be: one, or what it would always return.
Returns = Callable[..., Any] | Mapping[str, Any] | None

_Arguments = ParamSpec("_Arguments")
_Returned = TypeVar("_Returned")

_FUNCTIONS = ("inputs", "outputs", "scratch", "reference", "error_bound", "work")


def _as_called(function: Callable[_Arguments, _Returned]) -> Callable[_Arguments, _Returned]:
    """The function, whose UserError leads to the caller's line alone."""

    @wraps(function)
    def called(*values: _Arguments.args, **named: _Arguments.kwargs) -> _Returned:
        __tracebackhide__ = True  # in pytest
        try:
            return function(*values, **named)
        except UserError as error:
            raise error.with_traceback(None) from None

    return called


@dataclass(frozen=True, kw_only=True, repr=False)
class Study:
    """A kernel, what it computes, and which points of it run: check(), sweep() or compare() it, or save() it as files.

    kernel       the kernel's file
    function     its name in the file, by default the first one's
    axes         values by axis: sizes, and parameters of the kernel. All combinations are points
    cases        points one by one, each its values by axis, in place of axes
    launches     a list as in a study's file, or a function; by default the file's own
    inputs, outputs, scratch, reference, error_bound, work  as in a problem.py (docs/study-files.md): functions, or what
                 they would return. Without inputs, they are guessed from the signature; without outputs, they are what
                 reference returns; without reference, results are not judged
    macros, options, constants, variables, restrictions  as in a study's file
    """

    kernel: str | Path
    function: str = ""
    axes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    cases: Sequence[Mapping[str, Any]] = ()
    launches: Sequence[Mapping[str, Any]] | Callable[..., Any] | None = None
    inputs: Returns = None
    outputs: Returns = None
    scratch: Returns = None
    reference: Returns = None
    error_bound: Returns = None
    work: Returns = None
    macros: Sequence[Any] = ()
    options: Sequence[str] = ()
    constants: Sequence[str] = ()
    variables: Sequence[str] = ()
    restrictions: Sequence[str] = ()

    def __repr__(self) -> str:
        kernel = f"{self.kernel} ({self.function})" if self.function else str(self.kernel)
        points = f"{len(self._points)} points" if self.axes or self.cases else "guessed points"
        axes = f" of {', '.join(self._axis_names)}" if self.axes or self.cases else ""
        return f"Study of {kernel}: {points}{axes}; {', '.join(self._given) or 'nothing else'} given"

    @_as_called
    def check(self) -> Checked:
        """Run all points on the emulator: are the results right, and each access to memory, and each barrier?

        Raises UserError where a function is wrong, or the kernel can't be read.
        """
        return replace(self)._checked()  # The kernel may have been edited since it was read.

    def _checked(self) -> Checked:
        started = time.perf_counter()
        own = (self._given, self.axes, self.launches is not None, self.macros, self.constants, self.variables)
        if not any(own):
            (result,) = check_file(self._file, self._guess.name, Given(self.cases, options=self.options))
            return result
        name = self._guess.name
        # Of this file: another process may check one of the same name.
        kept = cache_folder() / "swept" / self._key
        outcomes = sweep_kernel(self._study(self._all_axes), name, kept, points=self._points)
        result = Checked(str(self.kernel), name, self._guess.line, judged="reference" in self._functions)
        result = replace(result, guessed={"launch": launch_in_words(self._guess)} if self.launches is None else {})
        of_points = seen(outcomes, self._file, folders_in(self._options))
        doubts = self._guess.doubts if self.launches is None else ()
        depends = {key: doubts[0] for key, one in of_points.findings.items() if doubts and one.kind != "wrong result"}
        result = judged(result, of_points, depends)
        return replace(result, seconds=time.perf_counter() - started)

    @_as_called
    def sweep(self, platform: str = EMULATOR, folder: str | Path | None = None, **measuring: Any) -> pandas.DataFrame:
        """Check every point, and time it if the platform is "gpu": a frame with a row for each.

        folder     keeps what was compiled and measured, by default in the user's cache: only what is missing runs
        measuring  keys of config.yaml's `measuring`, such as visits=1

        The columns are those of load(...).study(). Raises UserError, also without a reference.
        """
        from kernelsweep.project.compared import kept_rows
        from kernelsweep.project.notebook import load

        study = replace(self)  # The kernel may have been edited since it was read.
        made = study._swept(platform, folder, None, measuring)
        kept_rows(made)
        return load(made.folder).study(made.study)

    @_as_called
    def compare(
        self,
        other: Study | str | Path | None = None,
        platform: str = EMULATOR,
        folder: str | Path | None = None,
        same_within: float = 0.01,
        **measuring: Any,
    ) -> Compared:
        """Is this kernel faster than another one, or than before its latest edit? As `snakemake compare` says it.

        other        a study of the same problem, or another kernel's file for this one; left out: the version before
                     the latest edit, if sweep() or compare() ran it
        same_within  the smallest difference that matters, as a fraction
        folder, measuring  as for sweep()

        If the platform is "gpu", both run alternately in pairs, point by point with equal axes, until they decide. The
        emulator has no clock: it says whether results are right, and which accesses to memory there are more or less
        of. Raises UserError for studies that compute different things, also without a reference.
        """
        from kernelsweep.project.compared import compared

        study, before, title = replace(self), None, f"{self.kernel}, after its edit and before it"
        if other is not None:
            against = replace(other) if isinstance(other, Study) else replace(self, kernel=other)
            beside = "beside" if against._key == study._key else ""
            before = against._swept(platform, folder, None, measuring, beside)
            names = [f"{one.kernel} ({one._guess.name})" for one in (study, against)]
            title = f"{names[0]} beside {names[1] if names[0] != names[1] else 'another study of it'}"
        after = study._swept(platform, folder, ToDecide(same_within, before), measuring)
        where = "on the emulator" if platform == EMULATOR else f"on {after.rows[0]['device']}"
        return compared(after, before, same_within, f"{title}, {where}:")

    def _swept(
        self,
        platform: str,
        folder: str | Path | None,
        to_decide: ToDecide | None,
        measuring: Mapping[str, Any],
        beside: str = "",
    ) -> Swept:
        """The sweep of all points; `beside` names a folder of its own for another version of the same kernel."""
        if "reference" not in self._functions:
            raise UserError("a sweep needs a reference: no kernel is called fast before its results are right.")
        kept = (Path(folder) if folder else cache_folder() / "swept" / self._key) / beside
        points, axes = (None if self.axes else self._points), self._study(self._all_axes)
        return swept(axes, self._guess.name, kept, platform, points=points, to_decide=to_decide, **measuring)

    @_as_called
    def save(self, folder: str | Path = ".") -> list[Path]:
        """Write the study's files, as `kernelsweep <name>` reads them; the kernel's includes the one that it is of.

        Returns their paths. Raises UserError where one exists, and for a function whose source can't be written.
        """
        root, name = Path(folder), self.name
        functions = dict(self._functions)
        text = ""
        if "outputs" not in self._given and "inputs" in self._given and "reference" in self._given:
            text = _outputs_text(functions["outputs"], functions["inputs"], functions["reference"])
            del functions["outputs"]
        texts = {root / f"kernels/{name}/problem.py": _source_text(functions) + text}
        kernel = root / f"kernels/{name}/{self._guess.name}.cu"
        texts[kernel] = f'#include "{os.path.relpath(self._file, kernel.parent.resolve())}"\n'
        settings = {**self._settings(self._all_axes), "problem": f"kernels/{name}/problem.py"}
        texts[root / f"config/studies/{name}.yaml"] = yaml.safe_dump(settings, sort_keys=False, width=120)
        write_texts(texts, are_new=True)
        return [*texts]

    @property
    def name(self) -> str:
        """The study's name: the kernel's file's."""
        return re.sub(r"[^a-z0-9_]", "_", self._file.stem.lower())

    @property
    def _file(self) -> Path:
        return Path(self.kernel).resolve()

    @cached_property
    def _options(self) -> Sequence[str]:
        return Given(options=self.options).with_flags_of(self._file).options

    @cached_property
    def _guess(self) -> Guess:
        return guess(self._file, self.function, folders_in(self._options))

    @cached_property
    def _key(self) -> str:
        return f"{self.name}_{hashlib.sha256(f'{self._file} {self._guess.name}'.encode()).hexdigest()[:12]}"

    @property
    def _given(self) -> dict[str, Any]:
        return {name: value for name in _FUNCTIONS if (value := getattr(self, name)) is not None}

    @cached_property
    def _functions(self) -> dict[str, Callable[..., Any]]:
        """The problem's functions: those that are given, and guesses for inputs and outputs."""
        found = {name: value if callable(value) else _constant(value) for name, value in self._given.items()}
        if "inputs" in found and "reference" in found and "outputs" not in found:
            written = {one.name: one.dtype for one in self._guess.arrays if one.written}
            found["outputs"] = outputs_of(found["inputs"], found["reference"], written, self._axis_names)
        if "outputs" not in found or ("inputs" not in found and self._guess.arrays):
            guesses = guessed_functions(self._file, self._guess, Given(options=self._options))
            found = {**guesses, **found}
        if callable(self.launches):
            found["launches"] = self.launches
        return {name: found[name] for name in (*_FUNCTIONS, "launches") if name in found}

    @property
    def _axis_names(self) -> list[str]:
        return [*dict.fromkeys(name for point in self._points for name in point)]

    @cached_property
    def _points(self) -> list[dict[str, Any]]:
        if self.axes:
            return [dict(zip(self.axes, row, strict=True)) for row in itertools.product(*self.axes.values())]
        return [dict(case) for case in self.cases] or default_points(self._guess)

    @property
    def _all_axes(self) -> dict[str, list[Any]]:
        """The axes, also of cases, with all of their values."""
        return {name: [*dict.fromkeys(point[name] for point in self._points)] for name in self._axis_names}

    def _settings(self, axes: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        guessed = self._guess
        entry: dict[str, Any] = {"name": guessed.name, "function": guessed.function}
        if self.launches is None:
            if not guessed.grid:
                raise UserError(f"{guessed.name} is not launched in its file. Give launches=[...].")
            # The names among the inputs, as far as they are known without axes.
            inputs = [*self.inputs] if isinstance(self.inputs, Mapping) else []
            entry["launches"] = [launch_of(guessed, inputs)]
        elif not callable(self.launches):
            entry["launches"] = [dict(one) for one in self.launches]
        keys = {"macros": self.macros, "options": self._options, "constants": self.constants}
        entry |= {key: [*value] for key, value in (*keys.items(), ("variables", self.variables)) if value}
        of_axes = {axis: [*values] for axis, values in axes.items()}
        restrictions = {"restrictions": [*self.restrictions]} if self.restrictions else {}
        return {"title": guessed.name, "problem": "problem.py", "axes": of_axes, **restrictions, "kernels": [entry]}

    def _study(self, axes: Mapping[str, Sequence[Any]]) -> CheckedStudy:
        kinds = {"cache": True, **{axis: isinstance(values[0], str) for axis, values in axes.items()}}
        problem = given_problem(self._functions, kinds)
        root, files = cache_folder() / "given" / self._key, {self._guess.name: self._file}
        shown = f"the study of {self.kernel}"
        return checked_study(self.name, root, self._settings(axes), shown, files, problem=problem)


@_as_called
def check(kernel: str | Path, **keys: Any) -> Checked:
    """Check a kernel on the emulator: Study(kernel=kernel, ...).check(), where each key is described.

    The result's `right` says whether all points are right and nothing was found. Printed, it has each finding with its
    lines, so that `assert check(...).right` tells them.
    """
    return Study(kernel=kernel, **keys).check()


def _constant(value: Mapping[str, Any]) -> Callable[..., Any]:
    return lambda: value


def _source_text(functions: Mapping[str, Callable[..., Any]]) -> str:
    """A problem file with these functions, and what they name of their module. Raises UserError where it can't be."""
    needed: dict[str, str] = {}

    def add(name: str, function: Any) -> None:
        if not inspect.isfunction(function) or function.__name__ == "<lambda>" or function.__closure__:
            raise UserError(
                f"{name} can't be written to a file. Make it a function (def) of its own, without closures."
            )
        for other in _globals_of(function):
            value = function.__globals__[other]
            if other in needed:
                continue
            needed[other] = ""
            if inspect.ismodule(value):
                needed[other] = f"import {value.__name__} as {other}".removesuffix(f" as {value.__name__}")
            elif inspect.isfunction(value) and value.__globals__ is function.__globals__:
                add(other, value)
            elif isinstance(value, int | float | str | bool | tuple):
                needed[other] = f"{other} = {value!r}"
            elif hasattr(value, "__module__") and hasattr(value, "__qualname__"):
                needed[other] = f"from {value.__module__} import {value.__qualname__}"
            else:
                raise UserError(f"{name} names {other}, which can't be written to a file. Make it in a function.")
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError) as error:
            raise UserError(f"the source of {name} is not known, so that it can't be written to a file.") from error
        needed[name] = re.sub(rf"\bdef {function.__name__}\b", f"def {name}", source, count=1).strip()

    for name, function in functions.items():
        add(name, function)
    first = sorted((text for text in needed.values() if re.match("import |from ", text)), key=len)
    others = [text for text in needed.values() if text and text not in first]
    return "\n\n\n".join(["\n".join(first), *others]).strip() + "\n"


def _outputs_text(outputs: Callable[..., Any], inputs: Callable[..., Any], reference: Callable[..., Any]) -> str:
    """The function that outputs_of() makes, as a file has it."""
    named, of_inputs, of_reference = ([*inspect.signature(one).parameters] for one in (outputs, inputs, reference))
    dtypes: Mapping[str, str] = outputs.dtypes  # type: ignore[attr-defined]
    made = ", ".join(
        f"{name}=numpy.random.default_rng(0)" if name == "random" else f"{name}={name}" for name in of_inputs
    )
    given = ", ".join(f"{name}={name}" if name in named else f'{name}=made["{name}"]' for name in of_reference)
    types = ", ".join(f'"{name}": "{dtype}"' for name, dtype in dtypes.items())
    return f'''

def outputs({", ".join(named)}):
    """The reference's shapes, with the kernel's types."""
    import numpy

    made, types = inputs({made}), {{{types}}}
    return {{name: (numpy.shape(right), types[name]) for name, right in reference({given}).items()}}
'''


def _globals_of(function: Any) -> Iterator[str]:
    """The global names of a function's code, those of functions inside it included."""
    codes = [function.__code__]
    for code in codes:
        codes += [one for one in code.co_consts if inspect.iscode(one)]
        yield from (name for name in code.co_names if name in function.__globals__)
