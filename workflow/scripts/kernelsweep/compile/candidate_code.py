"""What the code of an untrusted kernel may not have, or shows, by its words as compilers read them.

A source's words are read twice. First as they stand: lines that a backslash joins are joined, comments are left out,
and texts are empty, so that a printf of "clock64" reads no clock. Then preprocessed, because macros, also those of a
header, put words together. Where nvcc is installed, it and g++ have to read the same lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from kernelsweep.base.cxx import LITERALS, cxx_code
from kernelsweep.compile.device_code import device_text
from kernelsweep.errors import BuildError, UserError
from kernelsweep.reasons import Reason

# What a source may show, by the names of checks.
ASSEMBLY, CLOCK = "assembly", "clock"

# A backslash before the end of a line joins it with the next one, for both compilers also where blanks lie between.
_SPLICED = r"\\[ \t\v\f\r]*\n"
_SPLICE = re.compile(_SPLICED)
_LITERAL = re.compile(LITERALS, re.DOTALL)
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*+"?')
_DIRECTIVE = re.compile(r"^[^\S\n]*#[^\n]*", re.MULTILINE)

# Words by which code is another on the emulator than on a GPU, or by which such a word is hidden: names of the
# emulator's, tests of what its own words are, and names that are put together, in two spellings.
_HIDING = re.compile(
    r"\bEMULATOR\w*|\bemulator\b|\bkernelsweep\w*|\b__has_include\w*|\b__COUNTER__\b|%:|\?\?/|\\u[0-9a-fA-F]{4}"
    r"|\\U[0-9a-fA-F]{8}|\bno_sanitize\w*|\b__tsan_\w+|\b__SANITIZE_\w+|\b__GXX_\w+|\b__OPTIMIZE\w*"
    r"|\bdecltype\s*\([\s(]*(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b"
)
# A name in brackets may hold what is else a comment's mark; then it has a blank, or no end.
_HIDING_DIRECTIVE = re.compile(
    r"\s*#\s*+(?:include\b(?!\s*+(?:<[^<>\"'\s]+>|\"\")\s*$).*|include_next\b.*|import\b.*|line\s++(?!\d+\s*$).*|\d.*)"
    r"|\s*#\s*+(?:el)?if.*\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize|__shared__|__device__|__global__|__constant__)\b.*"
    r"|\s*#\s*+(?:undef|define)\s+(?:threadIdx|blockIdx|blockDim|gridDim|warpSize|__builtin_\w+)\b.*"
)
# Attributes and pragmas that change no code that is checked.
_ARGUMENTS = r"(?:\s*+\((?:[^()]|\([^()]*\))*+\))?+\s*+"
_ATTRIBUTE = re.compile(r"\b__attribute(?:__)?\b|\[\s*\[\s*(?:using\b|\w+)")
_ALLOWED_ATTRIBUTE = re.compile(
    r"(?:__attribute(?:__)?\s*\(\s*\(|\[\s*\[)\s*(?:(?:_*+gnu_*+\s*::\s*)?_*+"
    r"(?:aligned|packed|always_inline|noinline|unused|maybe_unused|may_alias|nodiscard|const|pure|likely|unlikely"
    rf"|fallthrough|noreturn|deprecated|no_unique_address)_*+{_ARGUMENTS}(?:,\s*+)?+)*+(?:\)\s*\)|\]\s*\])"
)
# An index in an index, which is no attribute.
_INDEX = re.compile(r"[\w\])]\s*$")
_PRAGMA = re.compile(
    r"^[^\S\n]*#[^\S\n]*+pragma[^\S\n]++(?!(?:once|unroll|nounroll|nv_\w+|diag_\w+|hd_warning_disable|message|(?:end)?region|omp|pack|comment|warning|STDC|GCC\s+(?:unroll|ivdep|diagnostic))\b).*",
    re.MULTILINE,
)
_OPERATOR_PRAGMA = re.compile(r'\b_Pragma\s*\(\s*+(?!"\s*(?:unroll|nounroll|nv_\w+)\b)[^)\n]*')

# Pragmas that copies of a source have around its includes (device_code.py), and those of mark_branches().
_OF_COPIES = re.compile(
    r"^[^\S\n]*#[^\S\n]*pragma (?:push_macro|pop_macro|message|kernelsweep_branch)\b.*$", re.MULTILINE
)

_NEVER = re.compile(
    r"^[^\S\n]*#[^\S\n]*if[^\S\n]+0[^\S\n]*\n(?:(?![^\S\n]*#[^\S\n]*(?:el|endif))[^\n]*\n)*+", re.MULTILINE
)
_ASSEMBLY = re.compile(r"\b(?:asm|__asm|__asm__)\b")
_CLOCK = re.compile(
    r"\b(?:clock64|wall_clock64|__nanosleep|_*rdtscp?|__builtin_ia32_\w+|__builtin_readcyclecounter|__nvvm_read_ptx\w+"
    r"|__builtin_nvvm_\w+|globaltimer\w*|get_sreg_(?:clock|globaltimer)\w*)\b|\bclock\s*+(?:\)\s*+)?\(|^[^\S\n]*#[^\S\n]*define\b[^\n]*\bclock\b"
    r"|\bchrono\s*::\s*\w+_clock\b",
    re.MULTILINE,
)
_CLOCK_OF_ASSEMBLY = re.compile(r"%(?:clock\w*|globaltimer\w*)")


def check_source(text: str, shown: str) -> dict[str, str]:
    """What a source shows, by check. Raises UserError for what no candidate may have; `shown` is its file."""
    joined, words = _words(text, shown)
    _check_words(
        joined, words, shown, next(filter(None, map(_HIDING_DIRECTIVE.match, _DIRECTIVE.findall(words))), None)
    )
    return _findings(*_words(device_text(text), shown), shown)


def _words(text: str, shown: str) -> tuple[str, str]:
    """A text with joined lines and without comments, and the same with empty texts. Raises UserError."""
    joined = cxx_code(_SPLICE.sub("", text), keep_leading=False, keep_lines=False)
    raw = [match[0] for match in _LITERAL.finditer(joined) if match["mark"] is not None]
    if raw and _SPLICE.search(text):  # which is none in such a text
        raise UserError(f"{shown} has {raw[0][:100]!r}, and lines that a backslash joins. Allowed is one of them.")
    return joined, _LITERAL.sub(_without_text, joined)


def _without_text(literal: re.Match[str]) -> str:
    """A number or a text without an end as it stands, and `""` for another text."""
    body = literal[0][1:-1]
    has_end = literal[0][-1] == literal[0][0] and len(literal[0]) > 1 and (len(body) - len(body.rstrip("\\"))) % 2 == 0
    if literal["mark"] is None and (literal[0][0].isdigit() or not has_end):
        return literal[0][0] + _STRING.sub('""', literal[0][1:])  # An apostrophe may come before a whole text.
    return '""'


def _check_words(joined: str, words: str, shown: str, directive: re.Match[str] | None = None) -> None:
    if hiding := directive or _HIDING.search(words):
        raise UserError(
            f"{shown} has {hiding[0].strip()[:100]!r}, by which code can be other code where it is checked."
        )
    if refused := _refused_attribute(words) or _PRAGMA.search(words) or _OPERATOR_PRAGMA.search(joined):
        raise UserError(
            f"{shown} has {refused[0].strip()[:100]!r}. Allowed are attributes and pragmas that change no check: "
            "aligned, packed, always_inline, noinline, unused and unroll."
        )


def _findings(joined: str, words: str, shown: str) -> dict[str, str]:
    """The assembly and the clocks that words show, by check; not in code that `#if 0` leaves out."""
    findings, words = {}, _NEVER.sub("", words)
    if _ASSEMBLY.search(words):
        findings[ASSEMBLY] = f"{shown} has assembly, which the emulator can't run"
    if clock := _CLOCK.search(words) or (_CLOCK_OF_ASSEMBLY.search(joined) if findings else None):
        findings[CLOCK] = f"{shown} reads a clock ({clock[0].strip('( )')}): it may do other work when it is timed"
    return findings


def check_preprocessed(text: str, files: Sequence[Path], known: Collection[str]) -> None:
    """Raise BuildError for words that no candidate may have, and that only its macros put together.

    text   what g++'s preprocessor prints
    files  the candidate's: what stands in others is not judged
    known  what its sources show as they stand, by check
    """
    own: dict[str, list[str]] = {os.path.abspath(file): [] for file in files}
    lines: list[str] = []
    for line in text.splitlines():
        if place := _PLACE.match(line):
            lines = own.get(place["file"], [])
        else:
            lines.append(line)
    for file, its in zip(map(str, files), own.values(), strict=True):
        try:
            of_file = _OF_COPIES.sub("", "\n".join(its)).replace(_FAILED_ASSERTION, "")
            joined, words = _words(_UNIVERSAL_NAME.sub(lambda name: chr(int(name[1], 16)), of_file), file)
            _check_words(joined, words, file)
        except UserError as error:
            raise BuildError(f"A macro puts words together: {error}", Reason.HIDDEN_WORDS) from error
        for check, finding in _findings(joined, words, file).items():
            if check not in known:
                raise BuildError(f"A macro puts words together: {finding}", Reason.HIDDEN_WORDS)


# The preprocessor's word on the file of the lines that follow.
_PLACE = re.compile(r'# \d+ "(?P<file>[^"\n]*)"')
# How it writes a letter of a name, other than ASCII's.
_UNIVERSAL_NAME = re.compile(r"\\U(000(?!000[0-7])[0-9a-f]{5})")
# What the emulator's assert is.
_FAILED_ASSERTION = "::emulator::fail_assertion"


def mark_branches(copies: Collection[Path]) -> list[str]:
    """Put a pragma behind each condition for the preprocessor in copies of sources. Returns the conditions by number.

    Lines keep their numbers, and the conditions around a header that may be missing get none.
    """
    conditions: list[str] = []
    for copy in copies:
        text = "".join(_marked(copy.read_text(encoding="utf-8"), conditions))
        copy.write_text(text, encoding="utf-8")
    return conditions


def _marked(text: str, conditions: list[str]) -> Iterator[str]:
    number, optional = 1, [False]
    for line, lines in _logical_lines(text):
        yield line + "\n" * lines
        condition = _CONDITION.match(line)
        number = int(match[1]) if (match := _LINE.match(line)) else number + lines + line.count("\n")
        kind = condition[1] if condition else ""
        if kind == "if":
            optional.append("__has_include" in line)
        is_own = kind and not optional[-1]
        if kind == "endif" and len(optional) > 1:
            optional.pop()
        if is_own:
            conditions.append(line.strip())
            yield f"#pragma kernelsweep_branch {len(conditions) - 1}\n#line {number}\n"


def _logical_lines(text: str) -> Iterator[tuple[str, int]]:
    """Each line as compilers read it, joined and without comments, with the number of its lines in the text."""
    line, lines, place = "", 0, 0
    for match in _END_OR_MORE.finditer(text):
        line += text[place : match.start()]
        place, word = match.end(), match[0]
        if word == "\n":
            yield line, lines + 1
            line, lines = "", 0
        elif match["more"]:
            line, lines = line + (" " if word[0] == "/" else ""), lines + word.count("\n")
        else:
            line += word
    yield line + text[place:], lines


_CONDITION = re.compile(r"\s*#\s*(if|el|endif)")
_LINE = re.compile(r"\s*#\s*line\s+(\d+)")
_END_OR_MORE = re.compile(rf"\n|(?P<more>{_SPLICED}|//(?:{_SPLICED}|[^\n])*|/\*.*?(?:\*/|\Z))|" + LITERALS, re.DOTALL)


def other_branch(of_gxx: str, of_nvcc: str, conditions: list[str]) -> str:
    """The first condition after which g++ or nvcc reads lines that the other one leaves out; "" where there is none."""
    pairs = zip_longest(*(_BRANCH.findall(text) for text in (of_gxx, of_nvcc)))
    other = next((pair for pair in pairs if pair[0] != pair[1]), ())
    return conditions[min(map(int, filter(None, other)))] if other else ""


_BRANCH = re.compile(r"^[^\S\n]*#[^\S\n]*pragma kernelsweep_branch (\d+)", re.MULTILINE)


def _refused_attribute(words: str) -> re.Match[str] | None:
    """The first attribute that may change how code is checked."""
    for match in _ATTRIBUTE.finditer(words):
        is_index = match[0][0] == "[" and _INDEX.search(words[max(0, match.start() - 20) : match.start()])
        if not is_index and not _ALLOWED_ATTRIBUTE.match(words, match.start()):
            return match
    return None
