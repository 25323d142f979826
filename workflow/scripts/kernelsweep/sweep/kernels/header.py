"""Read what a kernel's source file says of itself: the header in its leading comments, and its template."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.problems.problem import Problem
from kernelsweep.sweep.expressions import NUMBER, check_kind
from kernelsweep.sweep.kernels.source import ATTRIBUTES, LAUNCHES, KernelSource, read_source
from kernelsweep.sweep.schema import check, keys_of
from kernelsweep.sweep.yaml_files import YamlMistake, parse_yaml

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_ENTRY = rf"template\s*<(?P<parameters>[^>]*)>\s*__global__\s+void\s+{ATTRIBUTES}%s\s*\("

# What may come before a file's code: blanks, preprocessor directives, and comments of both kinds.
_BEFORE_CODE = re.compile(r"\s+|#(?:\\\n|.)*|//(?P<line>.*)|/\*(?P<block>(?s:.*?))\*/")

_KEY = "kernelsweep"
_HEADER = re.compile(rf"(?P<indent>\s*){_KEY}\s*:(?!:)(?P<value>.*)", re.IGNORECASE)
# The same below the code, where the marks of its comment still stand before it.
_HEADER_BELOW = re.compile(rf"^[ \t]*(?://|/\*|\*)?[/*! \t]*{_KEY}[ \t]*:(?!:)", re.IGNORECASE | re.MULTILINE)
# What may be meant as a header: one or two words, perhaps a colon or an equals sign, and perhaps a value in braces.
_LIKE_A_HEADER = re.compile(r"\s*(?P<words>[A-Za-z]+(?:[ _-]?[A-Za-z]+)?)\s*(?P<rest>[:=]?\s*(?:\{.*)?)")
_LIKE_A_SETTING = re.compile(r"\s+\w+\s*:(\s|$)")
_NEAR = 0.8  # difflib's similarity, which "kernelswep" and "kernelsweeps" have, but "kernels" has not

_EXAMPLE = "Write keys with values below it, such as '//   plan: block_partials'."


def _leading_comments(text: str) -> tuple[dict[int, str | None], int]:
    """The lines before a file's code by number from 1, and the place in the text where the code begins.

    A comment's line is its text without the comment's marks; a blank line is None. Preprocessor directives are left
    out.
    """
    lines: dict[int, str | None] = {}
    place = 0
    while match := _BEFORE_CODE.match(text, place):
        place = match.end()
        number = _line_number(text, match.start())
        if match["line"] is not None:
            lines[number] = re.sub(r"^[/!]* ?", "", match["line"])
        elif match["block"] is not None:
            opening, *others = match["block"].split("\n")
            lines[number] = re.sub(r"^[*!]* ?", "", opening)
            lines |= {number + n: re.sub(r"^\s*\*+ ?", "", line) for n, line in enumerate(others, 1)}
    for number, line in enumerate(text[:place].split("\n"), 1):
        if not line.strip():
            lines.setdefault(number, None)
    return dict(sorted(lines.items())), place


def _line_number(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def _is_like_a_header(line: str, following: str | None) -> bool:
    """Whether a line may be meant as the header's first one: near its word, and with a sign of a value."""
    match = _LIKE_A_HEADER.fullmatch(line)
    if match is None or not (match["rest"].strip() or _LIKE_A_SETTING.match(following or "")):
        return False
    word = re.sub(r"[ _-]", "", match["words"]).lower()
    return difflib.SequenceMatcher(None, word, _KEY).ratio() > _NEAR


def _read_header(text: str, known: Collection[str], shown: str) -> tuple[dict[str, Any], int] | None:
    """The settings under ``kernelsweep:`` in a file's leading comments, and that line's number; None without a header.

    known  the keys that a header may have

    The header ends before the first line that is not indented under it, or at a preprocessor directive. Raises
    UserError, with the file as `shown` and the line, for two headers, for a header that is no YAML or stands below the
    code, and for a line that looks like a header or like a setting outside of it.
    """

    def refusal(number: int, problem: str) -> UserError:
        return UserError(f"{shown}, line {number}: {problem}")

    lines, code = _leading_comments(text)
    headers = {number: match for number, line in lines.items() if line and (match := _HEADER.fullmatch(line))}
    for number, line in lines.items():
        if number not in headers and line and _is_like_a_header(line, lines.get(number + 1)):
            raise refusal(number, f"{line.strip()!r} looks like a kernel's header, but is none. Write '{_KEY}:'.")
    if below := _HEADER_BELOW.search(text, code):
        raise refusal(
            _line_number(text, below.end()), "this header stands below the code. Move it to the file's beginning."
        )
    if not headers:
        return None
    first, *others = headers
    if others:
        raise refusal(others[0], f"a second header; the first is in line {first}. Keep one of them.")

    indent = len(headers[first]["indent"])
    end = first + 1
    while end in lines and not (lines[end] or "")[: indent + 1].strip():
        end += 1
    for number, line in lines.items():
        if number < end or not line or not line.strip():
            continue
        key, colon, _ = line.partition(":")
        if (number == end and (lines[end - 1] or "").strip()) or (colon and key.strip() in known):
            raise refusal(
                number,
                f"{line.strip()!r} is not indented under '{_KEY}:'. Indent it by two spaces more, or leave an empty "
                "line before it if it is no setting.",
            )
    body = [f"{_KEY}:{headers[first]['value']}", *((lines[number] or "")[indent:] for number in range(first + 1, end))]
    try:
        settings = parse_yaml("\n".join(body))[_KEY]
    except YamlMistake as error:
        number = min(first + (error.line or 0), end - 1)
        raise refusal(number, f"the header is no YAML: {error}. {_EXAMPLE}") from error
    if settings is not None and not isinstance(settings, dict):
        raise refusal(first, f"the header has no keys with values: {settings!r}. {_EXAMPLE}")
    return settings or {}, first


def read_kernel(path: Path, root: Path, problem: Problem) -> KernelSource:
    """Parse a file with a kernel that solves `problem`; `root` is the folder of the schemas, and of paths in messages.

    Raises UserError, naming file and key, for a file that is missing, a header that can't be read or breaks the schema,
    or a template that the sweep can't instantiate.
    """
    shown = str(path.relative_to(root) if path.is_relative_to(root) else path)
    if not path.is_file():
        raise UserError(f"{shown}: no such kernel; a study's kernel NAME is the file kernels/<study>/NAME.cu")
    text = read_source(path)
    schema = root / "workflow/schemas/kernel.schema.yaml"
    header = _read_header(text, keys_of(schema), shown)
    written, line = header or ({}, 0)
    of_header = f"{shown}, line {line}, header" if header else f"{shown}, header"
    known = {"plans": problem.plans, "operations": OPERATIONS, "dtypes": CXX_TYPES}
    settings = check(written, schema, of_header, known)
    for key, others in (("summation_depth", [LAUNCHES]), ("shared_elements", [])):
        try:
            check_kind(settings[key], [*problem.axes, *others], NUMBER)
        except UserError as error:
            raise UserError(f"{of_header}: {key}: {error}") from error

    name = path.stem
    match = re.search(_ENTRY % re.escape(name), text)
    if not match:
        raise UserError(f"{shown}: no kernel of the file's name; expected 'template <...> __global__ void {name}('")
    declared = [parameter.split() for parameter in match["parameters"].split(",") if parameter.strip()]
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
    input_declared = _COMMENT.sub(" ", text[match.end() :]).split(",")[0]
    return KernelSource(
        name=name,
        path=path,
        problem=problem,
        has_header=header is not None,
        template_parameters=tuple(words[-1] for words in declared),
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
