"""Start a study: its YAML file, a kernel and a problem.py, from a template or with the guesses of a kernel's file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

from kernelsweep.base.plain_files import write_texts
from kernelsweep.compile.device_code import host_variables
from kernelsweep.errors import UserError
from kernelsweep.home import HOME
from kernelsweep.project.check import Given, Runs, arguments_of, folders_in, learnt
from kernelsweep.project.check_points import default_points
from kernelsweep.project.guess import (
    SIDES_OF_BLOCK,
    Guess,
    array_parameter,
    guess,
    kernels_in,
    missing_headers,
    texts_of,
)
from kernelsweep.project.learnt_arrays import Holds, problem_text
from kernelsweep.project.project import check_study_names

_TEMPLATES = HOME / "examples/new-study"
_FILES = ("study.yaml", "kernel.cu", "problem.py")
_IGNORED = "/results/\n/.snakemake/\n"
_STRUCTURE = 'np.array((4, 0.5), np.dtype([("n", np.int32), ("x", np.float32)], align=True))'
_LARGE = {1: "[2^20, 2^24]", 2: "[1024, 4096]"}
_BLOCKS = "[64, 128, 256]"

_REFERENCE = """

def reference({read}):
    raise NotImplementedError("write the right results{results} here, in NumPy")
"""


def start_study(arguments: Sequence[str]) -> str:
    """Write a study's three files into the working directory, and a .gitignore if it has none; sentences that say so.

    arguments  the study's name, and perhaps the file of a kernel, which the study's kernel then includes

    Raises UserError for another command line, for a file without a kernel, and where a file of the study exists.
    """
    if len(arguments) not in (1, 2):
        raise UserError("usage: kernelsweep new NAME [FILE.cu]; NAME has lower-case letters, digits and _")
    check_name(arguments[0])
    name, *files = arguments
    folder, told, first = Path("kernels", name), "", ""
    texts = ((_TEMPLATES / file).read_text(encoding="utf-8") for file in _FILES)
    study, kernel, problem = (text.replace("NAME", name) for text in texts)
    if files:
        file = Path(files[0])
        study, problem, told = _texts_for(file, name, study)
        first = f"First write the right results into `reference` of {folder}/problem.py.\n"
        kernel = f'#include "{os.path.relpath(file.resolve(), folder.resolve())}"\n'
    file_of_study = Path(f"config/studies/{name}.yaml")
    written = {file_of_study: study, folder / f"{name}.cu": kernel, folder / "problem.py": problem}
    if not os.path.lexists(".gitignore"):
        written[Path(".gitignore")] = _IGNORED
    write_texts(written, are_new=True)
    return f"Written: {', '.join(map(str, written))}.{told}\n{first}Run it: kernelsweep {name}"


def check_name(name: str) -> None:
    """Raise UserError for a name that a new study can't have."""
    if not re.fullmatch("[a-z][a-z0-9_]*", name):
        raise UserError(f"{name!r} can't be a study's name. It has lower-case letters, digits and _.")
    check_study_names([name])


def _texts_for(file: Path, name: str, template: str) -> tuple[str, str, str]:
    """The study and the problem of the kernel with the study's name, else of the file's first, and what to know.

    Raises UserError.
    """
    given = Given().with_flags_of(file)
    include = folders_in(given.options)
    kernels = kernels_in(file, include)
    chosen = guess(file, name if name in kernels else "", include)
    others = [other for other in kernels if other != chosen.name]
    told = f" Its other kernels: {', '.join(others)}." if others else ""
    if given.flags_from:
        told += f" Options are {given.flags_from}'s."
    if missing := missing_headers(file, include):
        told += f" Not found: {', '.join(missing)}; name their folders in the kernel's options, as -Iinclude."
    if unknown := [f"`{one.text}`" for one in chosen.parameters if not one.dtype]:
        told += f" Not guessed, as structures are not: {', '.join(unknown)}. In NumPy: {_STRUCTURE}."
    covering = guess(file, chosen.name, include, launched=False)
    if not set(chosen.sizes) & {word for side in chosen.grid for word in re.findall(r"\w+", side)} and covering.grid:
        chosen = covering  # The file launches it for one size only.
    try:
        chosen, holds = learnt(chosen, Runs(file.resolve(), given))
    except UserError:
        holds = {one.name: Holds(updated=False) for one in chosen.arrays}
    holds = {array: one if one.known else replace(one, size=(*chosen.sizes, "n")[0]) for array, one in holds.items()}
    study = _study_text(template, chosen, holds, given.options)
    text = "\n".join(texts_of(file, chosen.file, include).values())
    for key, variables in _variables(text, chosen.function).items():
        study = study.replace("    launches:", f"    {key}: [{', '.join(variables)}]\n    launches:")
        for name, definition in variables.items():
            one, size = array_parameter(definition, name, text)
            known, size = bool(size), size or (*chosen.sizes, "n")[0]
            one = replace(one, written=key == "variables")
            chosen = replace(chosen, parameters=[*chosen.parameters, one])
            holds = {**holds, one.name: Holds(size=size, updated=one.written, known=known)}
    return study, _problem_text(chosen, holds), told


def _variables(text: str, function: str) -> dict[str, dict[str, str]]:
    """What a study has of a kernel's variables, by key: definitions by name, of those that the host sets or reads."""
    found: dict[str, dict[str, str]] = {}
    for name, definition in host_variables(text, [function]).items():
        is_constant = "__constant__" in definition
        if is_constant or re.search(rf"Symbol\w*\s*\([^;]*\b{name}\b", text):
            found.setdefault("constants" if is_constant else "variables", {})[name] = definition
    return found


def _study_text(template: str, chosen: Guess, holds: Mapping[str, Holds], options: Sequence[str]) -> str:
    """The study's file: each size, template parameter and block is an axis."""
    grid, block, of_block = [*map(_rounded_up, chosen.grid)], [*chosen.block], chosen.block_parameter
    dimensions = max([len(chosen.sizes), *(1 + one.size.count(" * ") for one in holds.values())])
    axes = {size: _LARGE.get(dimensions, "[128, 256]") for size in chosen.sizes} or {"n": _LARGE[1]}
    for parameter, value in chosen.template.items():
        is_number = value.isdigit() and int(value) > 1  # and no flag
        axes[parameter] = f"[{value}]{f' # block and grid do not follow {parameter}' * is_number}"
    # Shared memory is as large as its block asks for.
    is_free = (chosen.shared in ("", "0") and not chosen.has_own_block) or bool(of_block)
    threads = block[0] if len(block) == 1 and block[0].isdigit() and is_free else ""
    if threads or not block:
        axis = of_block or "block"
        axes[axis], block = f"[{threads}]" if threads and chosen.launched else _BLOCKS, [axis]
        grid = [re.sub(rf"\b{threads}\b", axis, side) for side in grid] if threads else grid
    axes |= {side: f"[{SIDES_OF_BLOCK[len(block)]}]" for side, is_size in chosen.axes.items() if not is_size}
    grid = grid or [f"{next(iter(axes))} / {block[0]}"]
    grid = [re.sub(r"^\((.+) \+ (\w+) - 1\) // \2$", r"\1 / \2", side) for side in grid]
    small = {axis: [point[axis] for point in default_points(chosen)] for axis in chosen.sizes} or {"n": [1000, 4099]}
    of_template = f"<{', '.join(chosen.template)}>" if chosen.template else ""
    launch = {
        "kernel": chosen.function.partition("<")[0] + of_template,
        "grid": f"[{', '.join(map(_quoted, grid))}]",
        "block": f"[{', '.join(block)}]",
        **({} if chosen.shared in ("", "0") else {"shared": chosen.shared}),
        "arguments": f"[{', '.join(map(_quoted, arguments_of(chosen)))}]",
    }
    head, _, rest = template.partition("  n:")
    emulator, _, kernels = rest[rest.index("\n\n") :].partition("{n: [1000, 4099]}")
    place = f" # as in {chosen.launched}" if chosen.launched else " # guessed: the file has none that can be read"
    lines = "\n        ".join(f"{key}: {value}" for key, value in launch.items())
    return (
        head
        + "\n".join(f"  {axis}: {values}" for axis, values in axes.items())
        + emulator
        + f"{{{', '.join(f'{axis}: {[*dict.fromkeys(values)]}' for axis, values in small.items())}}}"
        + kernels.partition("launches:")[0]
        + (f"options: [{', '.join(map(_option, options))}]\n    " if options else "")
        + f"launches:{place}\n      - {lines}\n"
    )


def _rounded_up(side: str) -> str:
    """A side of a grid such as (n + 127) // 128 as n / 128, which a study rounds up."""
    found = re.fullmatch(r"\((.+) \+ (\d+)\) // (\d+)", side)
    if not found or int(found[2]) + 1 != int(found[3]):
        return side
    return f"{found[1]} / {found[3]}" if re.fullmatch(r"[\w *]+", found[1]) else f"({found[1]}) / {found[3]}"


def _option(option: str) -> str:
    """An option as the study has it: folders below the working directory by their path from there."""
    text = option.replace(f"{Path.cwd()}/", "")
    return text if re.fullmatch(r"[\w/.=-]+", text) else yaml.safe_dump(text, default_style='"').strip()


def _quoted(text: str) -> str:
    return text if re.fullmatch(r'[\w\s+*/().-]+|".*"|texture\(\w+\)', text) else f'"{text}"'


def _problem_text(chosen: Guess, holds: Mapping[str, Holds]) -> str:
    guessed = [name for name, one in holds.items() if not one.known]
    told = "Shapes and values"
    if len(guessed) < len(holds):
        rest = f"Those of {', '.join(guessed)}, and all values," if guessed else "All values"
        told = f"Shapes are what it accesses on the emulator. {rest}"
    head = f'"""What {chosen.name} computes.\n\n{told} are guesses. See docs/study-files.md.\n"""'
    unread = {one.name for one in chosen.arrays if one.written and not holds[one.name].updated}
    results = " and ".join(one.name for one in chosen.arrays if one.written)
    reference = _REFERENCE.format(
        read=", ".join(one.name for one in chosen.arrays if one.name not in unread),
        results=f" of {results}" if results else "",
    )
    return problem_text(chosen, holds, f"{head}\n") + reference
