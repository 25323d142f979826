"""Which figures a study has: those that come with kernelsweep, and its own in kernels/<study>/figures/."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernelsweep.drawing.declaration import QUANTITIES, SHOW, read_declaration
from kernelsweep.errors import UserError, nearest
from kernelsweep.sweep.study import Study

# The titles, messages and captions of a study's figures, in the figures' folder.
TEXTS_FILE = "texts.json"
# The same for papers, as LaTeX.
CAPTIONS_FILE = "captions.tex"

_SHIPPED = Path(__file__).parent / "figures"


def shipped_figures() -> dict[str, Path]:
    """The files of the figures that come with kernelsweep, by name."""
    return _in_folder(_SHIPPED)


def own_figures(study: str, root: Path) -> dict[str, Path]:
    """The files of a study's own figures, by name."""
    return _in_folder(root / "kernels" / study / "figures")


def _in_folder(folder: Path) -> dict[str, Path]:
    return {file.stem: file for file in sorted(folder.glob("*.py")) if not file.stem.startswith(("_", "."))}


def check_figures(study: Study, root: Path) -> None:
    """Raise UserError if a study names a figure that doesn't exist, or if one of its own can't be used."""
    own, shipped = own_figures(study.name, root), shipped_figures()
    for key in ("labels", "colours"):
        for name in getattr(study.settings, key):
            if name not in study.kernels:
                guess = nearest(name, study.kernels) or ";"
                raise UserError(f"{study.file}: {key} names {name!r}{guess} Allowed: {', '.join(study.kernels)}.")
    for name, file in own.items():
        read_declaration(file)
        if name in shipped:
            raise UserError(f"{file.relative_to(root)}: kernelsweep has a figure {name}. Rename this one.")
    known = [*shipped, *own]
    for number, name in enumerate(study.settings.figure_names):
        if name not in known:
            raise UserError(
                f"{study.file}: figures.{number} is {name!r}{nearest(name, known) or ';'} Allowed: {', '.join(known)}; "
                f"or a figure of your own, kernels/{study.name}/figures/{name}.py."
            )
    for name, chosen in study.settings.figure_axes.items():
        declaration = read_declaration((shipped | own)[name])
        allowed = [*declaration.axes, *([SHOW] if declaration.shows_quantity else [])]
        axes = ["kernel", *study.problem.axes]
        for key, axis in chosen.items():
            where = f"{study.file}: figures: {name}"
            if key == SHOW and declaration.shows_quantity:
                if axis not in QUANTITIES:
                    guess = nearest(axis, QUANTITIES) or ";"
                    raise UserError(f"{where}: {SHOW} is {axis!r}{guess} Allowed: {', '.join(QUANTITIES)}.")
                continue
            if key not in allowed:
                raise UserError(
                    f"{where} has {key!r}{nearest(key, allowed) or ';'} Allowed: {', '.join(allowed) or 'none'}."
                )
            if axis not in axes or list(chosen.values()).count(axis) > 1:
                raise UserError(
                    f"{where}: {key} is {axis!r}{nearest(axis, axes) or ';'} Allowed: one each of {', '.join(axes)}."
                )


def drawn_figures(study: Study, root: Path, has_clock: bool) -> dict[str, Path]:
    """The files of the figures that are drawn for a study, by name; without a clock, none that needs times."""
    files = shipped_figures() | own_figures(study.name, root)
    named = {name: files[name] for name in study.settings.figure_names}
    return {name: file for name, file in named.items() if has_clock or "times" not in read_declaration(file).needs}


def rule_name(study: str, has_clock: bool) -> str:
    """The rule that makes a study's tables and figures on platforms with a clock, or without."""
    return f"publish_{study}" if has_clock else f"publish_untimed_{study}"


@contextmanager
def users_figure(file: Path) -> Iterator[None]:
    """Turn an error in a figure of a study's own into a UserError with its line; its stack goes to the log."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if file.resolve().is_relative_to(_SHIPPED) or isinstance(error, UserError):
            raise
        traceback.print_exc()
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).resolve() == file.resolve()]
        line = f", line {lines[-1]}" if lines else ""
        raise UserError(f"{file}{line}: the figure can't be drawn: {type(error).__name__}: {error}") from error


def load_figure(file: Path) -> Any:
    """The module of a figure, whose function draw takes a study's data and a width."""
    name = f"kernelsweep_figure_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise UserError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    # dataclasses look up the names in their annotations here.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
