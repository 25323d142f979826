"""The functions of a problem file: which there may be, and what each may name as a parameter."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kernelsweep.errors import UserError, nearest, shown_value
from kernelsweep.problems.user_module import UserModule

# What each function may name besides axes. `inputs` and `outputs` stand for all of them by name, and for each by its
# own name; an array that is both is an output then, and inputs["name"] is what it was before. `kernel` is the kernel's
# name, and `roundings` what the study says of it: the longest chain of roundings that an element goes through.
GIVEN: Mapping[str, tuple[str, ...]] = {
    "inputs": ("kernel", "random"),
    "outputs": ("kernel",),
    "scratch": ("kernel",),
    "reference": ("kernel", "random", "inputs"),
    "error_bound": ("kernel", "inputs", "expected", "roundings"),
    "result": ("kernel", "inputs", "outputs"),
    "mistake": ("kernel", "random", "inputs", "outputs"),
    "work": (),
    "launches": ("kernel", "Launch"),
}
# The functions that make the data and judge results, as opposed to those about a run's work and launches.
OF_DATA = ("inputs", "outputs", "scratch", "reference", "error_bound", "result", "mistake")
# What functions get by these names is no array. (An array may be called `kernel`, as a filter's weights are.)
RESERVED = frozenset(name for function in OF_DATA for name in GIVEN[function]) - {"kernel"}


@dataclass(frozen=True)
class UserFunction:
    """A function of a problem file.

    parameters  what it names, in its order
    optional    the parameters that have a default value, which holds where nothing has that name
    """

    module: UserModule
    name: str
    parameters: tuple[str, ...]
    optional: frozenset[str]

    @property
    def names_data(self) -> bool:
        """Whether the function may name arrays."""
        return bool({"inputs", "outputs"} & {*GIVEN[self.name]})

    @property
    def shown(self) -> str:
        """The function's name in messages, after the file's."""
        return f"{self.module.shown}: {self.name}"

    def call(self, axes: Mapping[str, Any], given: Mapping[str, Any]) -> Any:
        """What it returns for values of axes, and for what else it may name. Raises UserError where it raises.

        axes  all that the data depends on, for messages
        """
        arguments = {name: value for name, value in {**axes, **given}.items() if name in self.parameters}
        at = ", ".join(f"{name}={value}" for name, value in axes.items())
        return self.module.call(self.name, arguments, at)


def read_functions(module: UserModule, axes: Collection[str]) -> dict[str, UserFunction]:
    """The functions of a problem file by name. Raises UserError for a set or a parameter that makes no sense."""
    shown = module.shown
    for name in {name for names in GIVEN.values() for name in names} & {*axes}:
        raise UserError(f"{shown}: no axis can be called {name!r}: functions get something else by this name.")
    functions = {name: _read_function(module, name) for name in GIVEN if name in module.names}
    missing = [name for name in GIVEN if name not in functions]
    used = module.used_names
    for name, value in module.names.items():
        is_own = inspect.isfunction(value) and value.__module__ == module.names["__name__"]
        if is_own and not name.startswith("_") and name not in functions and name not in used:
            guess = nearest(name, missing) or f". Functions are {', '.join(GIVEN)}."
            raise UserError(
                f"{shown}: {name} is no function of a problem, and nothing calls it{guess} A helper's name may begin "
                "with _."
            )
    if "outputs" not in functions:
        raise UserError(f"{shown}: lacks the function outputs, which gives the arrays that kernels fill.")
    if ("reference" in functions) == ("mistake" in functions):
        have = "has both functions" if "reference" in functions else "has neither of the functions"
        raise UserError(f"{shown}: {have} reference and mistake. One of them has to judge the results.")
    for name in {"error_bound", "result"} & {*functions}:
        if "mistake" in functions:
            raise UserError(f"{shown}: has {name} beside mistake. {name} belongs to a reference; leave one out.")
    for function in functions.values():
        # Arrays' names are known when inputs has been called.
        known = {*axes, *GIVEN[function.name]}
        if function.name in ("reference", "error_bound") and "inputs" not in functions:
            known -= {"inputs"}
            check_parameters(function, known)
        elif not function.names_data:
            check_parameters(function, known)
    return functions


def check_parameters(function: UserFunction, known: Iterable[str]) -> None:
    """Raise UserError for a parameter that is none of the known names and has no default value."""
    known = sorted(known)
    for name in function.parameters:
        if name not in known and name not in function.optional:
            hint = nearest(name, known) or "."
            raise UserError(
                f"{function.shown} takes {name!r}, but nothing has this name{hint} "
                f"It may take {', '.join(known) or 'nothing: the study has no axes'}."
            )


def _read_function(module: UserModule, name: str) -> UserFunction:
    value = module.names[name]
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError) as error:
        raise UserError(f"{module.shown}: {name} is {shown_value(value)}. It has to be a function.") from error
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UserError(f"{module.shown}: {name} takes {parameter}. Each parameter has to name what it gets.")
    optional = frozenset(parameter.name for parameter in parameters if parameter.default is not parameter.empty)
    return UserFunction(module, name, tuple(parameter.name for parameter in parameters), optional)
