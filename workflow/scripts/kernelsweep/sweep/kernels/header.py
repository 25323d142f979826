"""Read a kernel's source file: the header in its leading comments, and its template."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.home import SCHEMAS
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.problems.problem import Problem
from kernelsweep.sweep.expressions import NUMBER, check_kind
from kernelsweep.sweep.kernels.leading_comments import leading_comments, line_number
from kernelsweep.sweep.kernels.source import ATTRIBUTES, LAUNCHES, KernelSource, read_source
from kernelsweep.sweep.schema import check, keys_of
from kernelsweep.sweep.yaml_files import YamlMistake, parse_yaml

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = rf"template\s*<(?P<parameters>[^>]*)>\s*__global__\s+void\s+{ATTRIBUTES}%s\s*\("

_KEY = "kernelsweep"
HEADER = re.compile(rf"(?P<indent>\s*){_KEY}\s*:(?!:)(?P<value>.*)", re.IGNORECASE)
# The same below the code, where the marks of its comment still stand before it.
_HEADER_BELOW = re.compile(rf"^[ \t]*(?://|/\*|\*)?[/*! \t]*{_KEY}[ \t]*:(?!:)", re.IGNORECASE | re.MULTILINE)
# Text that may be meant as a header: one or two words, optionally a colon or an equals sign, and a value in braces.
_LIKE_A_HEADER = re.compile(r"\s*(?P<words>[A-Za-z]+(?:[ _-]?[A-Za-z]+)?)\s*(?P<rest>[:=]?\s*(?:\{.*)?)")
_LIKE_A_SETTING = re.compile(r"\s+\w+\s*:(\s|$)")
_NEAR = 0.8  # difflib's similarity, which "kernelswep" and "kernelsweeps" have, but "kernels" has not

_EXAMPLE = "Write keys with values below it, such as '//   plan: block_partials'."


class _Mistake(Exception):
    """A mistake in a header: its line's number, and the problem."""


def _is_like_a_header(line: str, following: str | None) -> bool:
    """Whether a line is similar to a header's first line: its word, and a sign of a value."""
    match = _LIKE_A_HEADER.fullmatch(line)
    if match is None or not (match["rest"].strip() or _LIKE_A_SETTING.match(following or "")):
        return False
    word = re.sub(r"[ _-]", "", match["words"]).lower()
    return difflib.SequenceMatcher(None, word, _KEY).ratio() > _NEAR


def _read_header(text: str, known: Collection[str]) -> tuple[dict[str, Any], int] | None:
    """The settings under ``kernelsweep:`` in a file's leading comments, and that line's number; None without a header.

    known  the keys that a header may have

    The header ends before the first line that is not indented under it, or at a preprocessor directive. Raises _Mistake
    for two headers, for a header that is no YAML or stands below the code, and for a line that looks like a header or
    like a setting outside of it.
    """
    lines, code = leading_comments(text)
    first = _first_line(lines)
    if below := _HEADER_BELOW.search(text, code):
        line = line_number(text, below.end())
        raise _Mistake(line, "this header stands below the code. Move it to the file's beginning.")
    if first is None:
        return None
    match = HEADER.fullmatch(lines[first] or "")
    assert match is not None
    indent = len(match["indent"])
    end = first + 1
    while end in lines and not (lines[end] or "")[: indent + 1].strip():
        end += 1
    _check_no_setting_follows(lines, end, known)
    body = [(lines[number] or "")[indent:] for number in range(first + 1, end)]
    try:
        settings = parse_yaml("\n".join([f"{_KEY}:{match['value']}", *body]))[_KEY]
    except YamlMistake as error:
        line = min(first + (error.line or 0), end - 1)
        raise _Mistake(line, f"the header is no YAML: {error}. {_EXAMPLE}") from error
    if settings is not None and not isinstance(settings, dict):
        raise _Mistake(first, f"the header has no keys with values: {settings!r}. {_EXAMPLE}")
    return settings or {}, first


def _first_line(lines: Mapping[int, str | None]) -> int | None:
    """The number of a header's first line, or None without a header."""
    headers = [number for number, line in lines.items() if line and HEADER.fullmatch(line)]
    for number, line in lines.items():
        if number not in headers and line and _is_like_a_header(line, lines.get(number + 1)):
            raise _Mistake(number, f"{line.strip()!r} looks like a kernel's header, but is none. Write '{_KEY}:'.")
    if len(headers) > 1:
        raise _Mistake(headers[1], f"a second header; the first is in line {headers[0]}. Keep one of them.")
    return headers[0] if headers else None


def _check_no_setting_follows(lines: Mapping[int, str | None], end: int, known: Collection[str]) -> None:
    """Raise _Mistake if a line after a header's end is a setting, or may be one because it follows without a blank."""
    for number, line in lines.items():
        if number < end or not line or not line.strip():
            continue
        key, colon, _ = line.partition(":")
        if (number == end and (lines[end - 1] or "").strip()) or (colon and key.strip() in known):
            raise _Mistake(
                number,
                f"{line.strip()!r} is not indented under '{_KEY}:'. Indent it by two spaces more, or leave an empty "
                "line before it if it is no setting.",
            )


def read_kernel(path: Path, root: Path, problem: Problem) -> KernelSource:
    """Parse a file with a kernel that solves `problem`; `root` is the folder of the schemas, and of paths in messages.

    Raises UserError with the file and the key for a missing file, for a header that can't be read or breaks the schema,
    and for a template that the sweep can't instantiate.
    """
    shown = _shown(path, root)
    if not path.is_file():
        raise UserError(f"{shown}: no such kernel; a study's kernel NAME is the file kernels/<study>/NAME.cu")
    text = read_source(path)
    settings, has_header = _settings(text, SCHEMAS / "kernel.schema.yaml", problem, shown)
    name = path.stem
    entry = re.search(_ENTRY % re.escape(name), text)
    if not entry:
        raise UserError(f"{shown}: no kernel of the file's name; expected 'template <...> __global__ void {name}('")
    input_declared = _COMMENT.sub(" ", text[entry.end() :]).split(",")[0]
    return KernelSource(
        name=name,
        path=path,
        problem=problem,
        has_header=has_header,
        template_parameters=_template_parameters(entry["parameters"], problem, shown),
        plan=settings["plan"] or problem.plans[0],
        input_is_const="const" in input_declared.rpartition("*")[0].split(),
        block_size=settings["block_size"],
        smallest_block_size=settings["smallest_block_size"],
        largest_block_size=settings["largest_block_size"],
        unroll=tuple(settings["unroll"]),
        dtypes=tuple(settings["dtypes"]),
        operations=tuple(settings["operations"] or OPERATIONS),
        shared_elements=settings["shared_elements"],
        summation_depth=settings["summation_depth"],
        undefined_behaviour=settings["undefined_behaviour"],
        smallest_architecture=settings["smallest_architecture"],
        gpu_only=settings["gpu_only"],
    )


def read_header(path: Path, root: Path, schema: Path) -> tuple[dict[str, Any], str]:
    """The settings in the header of a kernel's file, unchecked, and how messages call the header.

    Without a header there are no settings. Raises UserError for a header that can't be read.
    """
    settings, _, where = _written(read_source(path), schema, _shown(path, root))
    return settings, where


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def _written(text: str, schema: Path, shown: str) -> tuple[dict[str, Any], bool, str]:
    """A header's settings, whether there is a header, and how messages call it."""
    try:
        header = _read_header(text, keys_of(schema))
    except _Mistake as mistake:
        line, what = mistake.args
        raise UserError(f"{shown}, line {line}: {what}") from mistake
    settings, line = header or ({}, None)
    return settings, header is not None, f"{shown}, line {line}, header" if header else f"{shown}, header"


def _settings(text: str, schema: Path, problem: Problem, shown: str) -> tuple[dict[str, Any], bool]:
    """A header's checked settings with their defaults, and whether there is a header."""
    written, has_header, of_header = _written(text, schema, shown)
    known = {"plans": problem.plans, "operations": OPERATIONS, "dtypes": CXX_TYPES}
    settings = check(written, schema, of_header, known)
    for key, others in (("summation_depth", [LAUNCHES]), ("shared_elements", [])):
        try:
            check_kind(settings[key], [*problem.axes, *others], NUMBER)
        except UserError as error:
            raise UserError(f"{of_header}: {key}: {error}") from error
    return settings, has_header


def _template_parameters(declarations: str, problem: Problem, shown: str) -> tuple[str, ...]:
    """The names in a template's parameter list. Raises UserError for one that the problem hasn't as declared."""
    declared = [declaration.split() for declaration in declarations.split(",") if declaration.strip()]
    for *kind, parameter in declared:
        if parameter not in problem.template_parameters:
            raise UserError(
                f"{shown}: template parameter {parameter!r} is not one that the problem {problem.name} has: "
                f"{', '.join(problem.template_parameters)}"
            )
        expected = problem.template_parameters[parameter]
        if " ".join(kind) not in (expected, "class" if expected == "typename" else f"{expected} int"):
            raise UserError(
                f"{shown}: template parameter {parameter!r} is declared {' '.join(kind)!r}; it has to be {expected}"
            )
    return tuple(words[-1] for words in declared)
