"""What the source of an untrusted kernel may not have, or shows, by its words as a compiler reads them.

Lines that a backslash joins are joined, comments are left out, and texts are empty: a printf of "clock64" reads no
clock.
"""

from __future__ import annotations

import re

from kernelsweep.base.code_hash import cxx_code
from kernelsweep.errors import UserError

# What a source may show, by the names of checks.
ASSEMBLY, CLOCK = "assembly", "clock"

# A backslash before the end of a line joins it with the next one, for both compilers also where blanks lie between.
_SPLICE = re.compile(r"\\[ \t\v\f\r]*\n")
_TEXT = re.compile(
    r"\b\d(?:'?[\w.])*"  # a number with separators
    r'|(?P<raw>R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z))'
    r'|(?P<text>"(?:\\.|[^"\\\n])*"|'
    r"'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[^\S\n]*#[^\n]*", re.MULTILINE)

# Words by which code is another on the emulator than on a GPU, or by which such a word is hidden: names of the
# emulator's, tests of what its own words are, and names that are put together, in two spellings.
_HIDING = re.compile(
    r"\bEMULATOR\w*|\bemulator\b|\bkernelsweep\w*|\b__has_include\w*|\b__COUNTER__\b|##|%:|\?\?/|\\u[0-9a-fA-F]{4}"
    r"|\\U[0-9a-fA-F]{8}|\bno_sanitize\w*|\b__tsan_\w+|\b__SANITIZE_\w+|\b__GXX_\w+|\b__OPTIMIZE\w*"
    r"|\bdecltype\s*\([\s(]*(?:threadIdx|blockIdx|blockDim|gridDim|warpSize)\b"
)
_HIDING_DIRECTIVE = re.compile(
    r"#\s*(?:include_next\b.*|import\b.*|include\s+\w.*)"
    r"|#\s*(?:el)?if.*\b(?:threadIdx|blockIdx|blockDim|gridDim|warpSize|__shared__|__device__|__global__|__constant__)\b.*"
)
# Attributes and pragmas that change no code that is checked.
_ARGUMENTS = r"(?:\s*\((?:[^()]|\([^()]*\))*\))?"
_ATTRIBUTE_NAMES = r"_*(?:aligned|packed|always_inline|noinline|unused|maybe_unused|may_alias|nodiscard|const|pure)_*"
_ATTRIBUTE = re.compile(r"\b__attribute(?:__)?\b")
_ALLOWED_ATTRIBUTE = re.compile(
    rf"\b__attribute(?:__)?\s*\(\s*\(\s*(?:{_ATTRIBUTE_NAMES}{_ARGUMENTS}\s*(?:,\s*)?)*\)\s*\)"
)
_BRACKETS = re.compile(r"\[\s*\[\s*(?:using\b|\w+)")
_ALLOWED_BRACKETS = re.compile(
    r"\[\s*\[\s*(?:(?:(?:__)?gnu(?:__)?\s*::\s*_*(?:always_inline|noinline|unused|aligned|packed)_*"
    rf"|maybe_unused|nodiscard|likely|unlikely|fallthrough|noreturn|deprecated|no_unique_address){_ARGUMENTS}\s*(?:,\s*)?)*\]\s*\]"
)
# An index in an index, which is no attribute.
_INDEX = re.compile(r"[\w\])]\s*$")
_PRAGMA = re.compile(
    r"#\s*pragma\s+(?!(?:once|unroll|nounroll|nv_\w+|diag_\w+|hd_warning_disable|message|(?:end)?region|omp|pack|comment|warning|STDC|GCC\s+(?:unroll|ivdep|diagnostic))\b).*"
)
_OPERATOR_PRAGMA = re.compile(r'\b_Pragma\s*\(\s*(?!"\s*(?:unroll|nounroll|nv_\w+)\b)[^)\n]*')

_ASSEMBLY = re.compile(r"\b(?:asm|__asm|__asm__)\b")
_CLOCK = re.compile(
    r"\b(?:clock64|wall_clock64|__nanosleep|_*rdtscp?|__builtin_ia32_\w+|__builtin_readcyclecounter|__nvvm_read_ptx\w+"
    r"|__builtin_nvvm_\w+|globaltimer\w*)\b|\bclock\s*\(|#\s*define\b[^\n]*\bclock\b"
)
_CLOCK_OF_ASSEMBLY = re.compile(r"%(?:clock\w*|globaltimer\w*)")


def check_source(text: str, shown: str) -> dict[str, str]:
    """What a source shows, by check. Raises UserError for what no candidate may have; `shown` is its file."""
    joined = cxx_code(_SPLICE.sub("", text), keep_leading=False, keep_lines=False)
    raw = [match["raw"] for match in _TEXT.finditer(joined) if match["raw"]]
    if raw and _SPLICE.search(text):  # which is none in such a text
        raise UserError(f"{shown} has {raw[0][:100]!r}, and lines that a backslash joins. Allowed is one of them.")
    words = _TEXT.sub(lambda match: '""' if match["raw"] or match["text"] else match[0], joined)
    hiding = _HIDING.search(words) or next(filter(None, map(_HIDING_DIRECTIVE.search, _DIRECTIVE.findall(words))), None)
    if hiding:
        raise UserError(
            f"{shown} has {hiding[0].strip()[:100]!r}, by which code can be other code where it is checked."
        )
    if refused := _refused_attribute(words) or _PRAGMA.search(words) or _OPERATOR_PRAGMA.search(joined):
        raise UserError(
            f"{shown} has {refused[0].strip()[:100]!r}. Allowed are attributes and pragmas that change no check: "
            "aligned, packed, always_inline, noinline, unused and unroll."
        )
    findings = {}
    if _ASSEMBLY.search(words):
        findings[ASSEMBLY] = f"{shown} has assembly, which the emulator can't run"
    if clock := _CLOCK.search(words) or (_CLOCK_OF_ASSEMBLY.search(joined) if findings else None):
        findings[CLOCK] = f"{shown} reads a clock ({clock[0].strip('( ')}): it may do other work when it is timed"
    return findings


def _refused_attribute(words: str) -> re.Match[str] | None:
    """The first attribute that may change how code is checked."""
    for match in _ATTRIBUTE.finditer(words):
        if not _ALLOWED_ATTRIBUTE.match(words, match.start()):
            return match
    for match in _BRACKETS.finditer(words):
        is_index = _INDEX.search(words[max(0, match.start() - 20) : match.start()])
        if not is_index and not _ALLOWED_BRACKETS.match(words, match.start()):
            return match
    return None
