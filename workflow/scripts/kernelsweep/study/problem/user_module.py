"""A Python file of the user's with the modules beside it, and its functions; what they raise becomes one sentence."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import threading
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import chdir, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import source_from_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from kernelsweep.base.code_hash import imported_user_files, is_of_library
from kernelsweep.base.running import TooSlow, limited, running
from kernelsweep.errors import UserError, nearest, readable, shown_value

_LONGEST_SHOWN = 200  # characters of an exception's message

# What only describes data, and so takes no time.
_QUICK = (_FILE := "the file", "outputs", "scratch", "work", "launches")


@dataclass(frozen=True, eq=False)
class UserModule:
    """A loaded Python file.

    shown     the file's name in messages
    files     the file itself, then the user's other modules that it imports, directly or indirectly, and then its data
    names     its global names, with their values
    own       the names of the modules in its folder
    siblings  the modules that it has imported from its folder, by name. They stand in sys.modules only while the file's
              code runs: two problems may both have a module `helpers` beside them.
    may_read  whether its functions may open any file, as where what they return is kept, and not their code
    """

    shown: str
    files: tuple[Path, ...]
    names: Mapping[str, Any]
    own: frozenset[str] = frozenset()
    siblings: dict[str, ModuleType] = field(default_factory=dict)
    may_read: bool = False


def load(path: Path, shown: str, data: Sequence[Path] = ()) -> UserModule:
    """The module in a Python file; the same module as long as the file and its siblings have the same content.

    data  the other files that it may read

    Raises UserError where there is no such file, where Python refuses it, and where it opens another file.
    """
    path = path.absolute()
    try:
        files = (path, *imported_user_files(path))
    except SyntaxError:
        files = (path,)  # Python reports the error, with its line, when it loads the file.
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{shown} can't be read: {getattr(error, 'strerror', None) or error}.") from error
    return _load(shown, files, tuple(file.read_bytes() for file in files), tuple(file.absolute() for file in data))


@lru_cache(maxsize=32)
def _load(shown: str, files: tuple[Path, ...], contents: tuple[bytes, ...], data: tuple[Path, ...]) -> UserModule:
    # No import statement can name this module. Dataclasses look for their module here.
    module = ModuleType(f"problem file {files[0]}")
    module.__file__ = str(files[0])
    sys.modules[module.__name__] = module
    siblings: dict[str, ModuleType] = {}
    packages = (file.parent for file in files[0].parent.glob("*/__init__.py"))
    own = frozenset(one.stem for one in (*files[0].parent.glob("*.py"), *packages)) - sys.stdlib_module_names
    importlib.invalidate_caches()
    # A file may change the folder in which a start finds all others.
    with _told(files[0], shown, _FILE, "") as opened, _siblings_first(files[0].parent, own, siblings), chdir("."):
        process, end = os.getpid(), os._exit
        # It would end the run without a word, and with status 0.
        os._exit = lambda status: sys.exit(status) if os.getpid() == process else end(status)
        try:
            exec(compile(contents[0], str(files[0]), "exec"), vars(module))
        finally:
            os._exit = end
    # Modules that no import statement names, such as importlib's.
    modules = {source for file in opened if (source := _source_of(file)) and not is_of_library(source)}
    files = (*files, *sorted(modules - {*files}), *data)
    _check_opened(opened, files, shown)
    return UserModule(shown, files, vars(module), own, siblings)


@contextmanager
def _told(path: Path, shown: str, function: str, at: str) -> Iterator[list[Path]]:
    """Where the user's code runs: what it raises becomes UserError or MemoryError. Gives the files that it opens."""
    try:
        is_quick = function in _QUICK
        with running(f"{shown}: {function}{at}"), limited() if is_quick else nullcontext(), opened_files() as opened:
            yield opened
    except BaseException as error:
        is_of_point = isinstance(error, MemoryError) and function != _FILE
        raise (MemoryError if is_of_point else UserError)(_message(error, path, shown, function, at)) from error


def _source_of(file: Path) -> Path | None:
    """The Python file that `file` is, or whose bytecode it is; None if it is neither."""
    if file.suffix == ".pyc":
        with suppress(ValueError):
            file = Path(source_from_cache(file))
    return file if file.suffix == ".py" and file.is_file() else None


def _check_opened(opened: Iterable[Path], files: Collection[Path], what: str) -> None:
    """Raise UserError for an opened file of the user's that is none of `files`."""
    for file in opened:
        source = _source_of(file) or file
        if source not in files and not is_of_library(source) and source.is_file():
            shown = os.path.relpath(source) if source.is_relative_to(Path.cwd()) else str(source)
            remedy = "Import it at the file's top" if source.suffix == ".py" else f"Add to the study: data: [{shown}]"
            raise UserError(
                f"{what} opens {shown}, and kept results would outlive a change of that file, because the study does "
                f"not name it. {remedy}."
            )


@contextmanager
def _siblings_first(folder: Path, own: Set[str], siblings: dict[str, ModuleType]) -> Iterator[None]:
    """Import the modules `own` from `folder` first, keep them in `siblings`, and leave no trace of them afterwards."""
    hidden = _taken_out(own)
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    sys.modules.update(siblings)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        siblings.update(_taken_out(own))
        sys.modules.update(hidden)
        sys.dont_write_bytecode = writes_bytecode


def _taken_out(names: Set[str]) -> dict[str, ModuleType]:
    """The modules (and their submodules) that have these names, taken out of sys.modules."""
    if not any(name in sys.modules for name in names):
        return {}
    found = [name for name in sys.modules if name.partition(".")[0] in names]
    return {name: sys.modules.pop(name) for name in found}


def _message(error: BaseException, path: Path, shown: str, function: str, at: str) -> str:
    """One sentence about an exception in the user's code, with the last line there that led to it."""
    places = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        places.append((Path(error.filename), error.lineno))
    where = shown
    for file, line in places:
        if file.is_relative_to(path.parent):
            name = shown if file == path else str(Path(shown).parent / file.relative_to(path.parent))
            where = f"{name}, line {line}"
    if isinstance(error, TooSlow):
        return f"{where}: {function}{at} {error}."
    try:
        kind, text = type(error).__name__, error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # Of the user's own kind.
        kind, text = type.__dict__["__name__"].__get__(type(error)), ""
    told = readable(" ".join(text.split()), _LONGEST_SHOWN)
    return f"{where}: {function} raises {readable(kind)}{at}{': ' if told else '.'}{told}"


# What code opens to read it, as Python's audit events tell.

# Other threads of the process open files of their own.
_watched = threading.local()


@contextmanager
def opened_files() -> Iterator[list[Path]]:
    """The list of the files that this thread opens for reading inside the context, without those that it wrote before.

    With them are libraries below this process' folder that ctypes loads. A file that a library opens without Python, as
    HDF5 does, or that another program reads, is not seen.
    """
    _install()
    outer = getattr(_watched, "read", None)
    read: list[Path] = []
    _watched.read, _watched.written = read, set()
    try:
        yield read
    finally:
        _watched.read = outer


# Python has no way to take an audit hook away again.
@cache
def _install() -> None:
    sys.addaudithook(_note)


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in ("open", "ctypes.dlopen") or getattr(_watched, "read", None) is None:
        return
    file, mode, flags = arguments if event == "open" else (*arguments, "r", 0)
    if not isinstance(file, str | bytes | os.PathLike):
        return
    path = Path(os.path.abspath(os.fsdecode(file)))
    if event != "open" and not path.is_relative_to(Path.cwd()):
        return
    writes = flags & (os.O_WRONLY | os.O_RDWR) if mode is None else not {*"wxa+"}.isdisjoint(mode)
    if writes:
        _watched.written.add(path)
    elif path not in _watched.written:
        _watched.read.append(path)


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
        """What it returns for values of axes, and for what else it may name.

        axes  all that the data depends on, for messages

        Raises UserError, with the line and the exception, where it raises one, or MemoryError in these words.
        """
        module, path = self.module, self.module.files[0]
        arguments = {name: value for name, value in {**axes, **given}.items() if name in self.parameters}
        at = f" at {', '.join(f'{name}={value}' for name, value in axes.items())}" if axes else ""
        with (
            _told(path, module.shown, self.name, at) as opened,
            _siblings_first(path.parent, module.own, module.siblings),
        ):
            returned = module.names[self.name](**arguments)
        if not module.may_read:
            _check_opened(opened, module.files, self.shown)
        return returned


def read_functions(module: UserModule, axes: Collection[str], judged: bool = True) -> dict[str, UserFunction]:
    """The functions of a problem file by name.

    judged  whether one of them has to judge results; else none may

    Raises UserError for a set or a parameter that makes no sense.
    """
    shown = module.shown
    for name in {name for names in GIVEN.values() for name in names} & {*axes}:
        raise UserError(f"{shown}: no axis can be called {name!r}: functions get something else by this name.")
    functions = {name: _read_function(module, name) for name in GIVEN if name in module.names}
    missing = [name for name in GIVEN if name not in functions]
    for name, value in module.names.items():
        is_fine = name in functions or name.startswith("_") or not inspect.isfunction(value)
        if not is_fine and (guess := nearest(name, missing, 0.7)):
            raise UserError(f"{shown}: {name} is no function of a problem{guess} A helper's name may begin with _.")
    if "outputs" not in functions:
        raise UserError(f"{shown}: lacks the function outputs, which gives the arrays that kernels fill.")
    judges = {"reference", "mistake", "result", "error_bound"} & {*functions}
    if not judged and judges:
        raise UserError(f"{shown}: has the function {min(judges)}, and nothing is to judge results.")
    if judged and ("reference" in functions) == ("mistake" in functions):
        have = "has both functions" if "reference" in functions else "has neither of the functions"
        raise UserError(
            f"{shown}: {have} reference and mistake. One of them has to judge the results; "
            "a mistake() that returns None compares nothing."
        )
    for name in {"error_bound", "result"} & {*functions}:
        if "mistake" in functions:
            raise UserError(f"{shown}: has {name} beside mistake. {name} belongs to a reference; leave one out.")
    for function in functions.values():
        # Arrays' names are known when inputs has been called.
        has_none = function.name in ("reference", "error_bound") and "inputs" not in functions
        if has_none or not function.names_data:
            check_parameters(function, {*axes, *GIVEN[function.name]} - ({"inputs"} if has_none else set()))
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
    except Exception as error:  # Of a class of the user's own, too.
        raise UserError(f"{module.shown}: {name} is {shown_value(value)}. It has to be a function.") from error
    for parameter in parameters:
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UserError(f"{module.shown}: {name} takes {parameter}. Each parameter has to name what it gets.")
    optional = frozenset(parameter.name for parameter in parameters if parameter.default is not parameter.empty)
    return UserFunction(module, name, tuple(parameter.name for parameter in parameters), optional)
