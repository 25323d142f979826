"""Say why g++ refused a kernel, and whether that is because the emulator lacks something."""

from __future__ import annotations

import re

from cuda_emulator.errors import Refused

_MOST_ERRORS = 5
# Of what g++ prints, so much is read: a line may be as long as a file.
_LETTERS_OF_LINE, _LINES = 1_000, 2_000

# An error, and the line of the source that g++ shows below it.
_ERROR = re.compile(
    r"^(?P<told>(?P<file>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?:fatal )?error: (?P<text>.*))$"
    r"(?:\n *\d+ \|(?P<shown>.*)$)?",
    re.MULTILINE,
)
# What the kernel's own `#pragma message` says.
_MESSAGE = re.compile(r"^.* note: '#pragma message: .*'$", re.MULTILINE)
_GROUPS = r"cooperative_groups|cg|cuda(?:::\w+)*|cub|nvcuda(?:::\w+)*"
_UNKNOWN = re.compile(
    r"'(?P<name>[\w:]+)' (?:was not declared|has not been declared|does not name a type|is not a namespace-name"
    r"|is not a class)"
    r"|there are no arguments to '(?P<call>\w+)'"
    r"|(?P<header>[\w./]+): No such file or directory"
    rf"|'(?P<member>\w+)' is not a member of '(?P<space>{_GROUPS})'"
    rf"|'(?P<kind>\w+)' in namespace '(?P<around>{_GROUPS})' does not name"
    r"|'(?:const )?(?:class|struct) (?P<of>(?:cooperative_groups|cuda)::[\w:]+).*' has no member named"
    r" '(?P<method>\w+)'"
)
_CUDA_WORD = re.compile(
    r"__\w+|atomic\w+|cuda\w*|cooperative_groups|cg|cub|thrust|nvcuda|nv_\w+|NV_\w+|tex\w+|surf\w+|curand\w*|clock(?:64)?"
    r"|(?:erfcx|erf(?:c)?inv|normcdfinv|cyl_bessel_i[01])f?"
    r"|(?:cooperative_groups|cg|cuda|cub|thrust|nvcuda)::[\w:]+"
    r"|(?:cuda|cub|thrust|cooperative_groups|nv)/.*"
    r"|(?:cuda(?:_\w+)?|cooperative_groups|cu(?:rand|blas|fft|sparse)\w*|nv\w+)\.h"
)
# What the emulator's headers have, by the header.
_OF_HEADERS = {
    "cuda_fp16.h": r"(?:__)?half2?|CUDART_\w+_FP16|__\w*half\w*|h2?(?:exp|log|sqrt|rsqrt|rcp|sin|cos)\w*"
    r"|__h(?:mul|sub|div|fma|neg|abs|eq|ne|lt|le|gt|ge|min|max|isnan|isinf)2?",
    "cuda_bf16.h": r"(?:__)?nv_bfloat162?|CUDART_\w+_BF16|__\w*bfloat16\w*",
    "math_constants.h": r"CUDART_[A-Z]\w*",
    "cuComplex.h": r"(?:make_)?cu(?:Float|Double)?Complex\w*|cuC[a-z]+",
    "cooperative_groups.h": r"cooperative_groups",
    "cooperative_groups/reduce.h": r"(?:cooperative_groups|cg)::(?:reduce|plus|less|greater)",
    "cuda/std/limits": r"cuda::std::numeric_limits",
    "cuda/std/cstdint": r"cuda::std::u?int\d+_t",
    "cuda/std/utility": r"cuda::std::(?:move|pair|swap|forward)",
    "cuda/std/type_traits": r"cuda::std::(?:is_\w+|enable_if\w*|conditional\w*|remove_\w+)",
    "cooperative_groups/scan.h": r"(?:cooperative_groups|cg)::(?:inclusive|exclusive)_scan",
    "cuda/atomic": r"cuda::(?:atomic(?:_ref|_thread_fence)?|memory_order\w*)",
    "cooperative_groups/memcpy_async.h": r"(?:cooperative_groups|cg)::(?:memcpy_async|wait\w*)",
    "cuda/barrier": r"cuda::(?:barrier|memcpy_async|aligned_size_t|device|ptx)",
    "cuda/pipeline": r"cuda::(?:(?:make_)?pipeline\w*|thread_scope\w*)",
    "cuda_pipeline.h": r"__pipeline_\w+",
    "mma.h": r"nvcuda(?:::\w+)*",
    "cub/cub.cuh": r"cub::(?:Block(?:Reduce|Scan)|KeyValuePair|ArgM(?:ax|in)|Sum|Max|Min)",
}
_GONE = ("__shfl", "__shfl_up", "__shfl_down", "__shfl_xor", "__any", "__all", "__ballot")
_LACKED = "is a CUDA word that the emulator does not supply"
# EMULATOR_NOT_SUPPLIED in block.hpp ends assertions of the emulator's headers so.
_LACKED_BY = re.compile(r"static assertion failed: (.*) \[not_supplied\]$")
# Before an error in a template: where the kernel uses it.
_USE = re.compile(r"^(\S+:\d+):\d+:\s+required from here$", re.MULTILINE)
_LAUNCH = "a launch from a kernel (dynamic parallelism) is something that the emulator does not supply"
_OVERLOADED = "overloaded function with no contextual type"
_ASSEMBLY = re.compile(r"Assembler messages|in 'asm'|invalid 'asm'|put constraint|impossible constraint")
_PTX = "assembly for the GPU (PTX) is something that the emulator does not supply"
_OF_CXX20 = ("concept", "requires", "consteval", "constinit")
_HINT = (
    "docs/emulator.md lists what it supplies. Put what only the GPU has between #if defined(__CUDACC__) and #else, or "
    "leave this kernel to a GPU."
)


def is_assembly(text: str) -> bool:
    """Whether g++ has refused assembly, by what it has printed."""
    return bool(_ASSEMBLY.search(text))


def refusal(text: str) -> Refused:
    """The error with the first of g++'s errors, after an explanation if the emulator lacks a feature.

    text  what g++ has printed
    """
    text = "\n".join(line[:_LETTERS_OF_LINE] for line in text.splitlines()[:_LINES])
    errors = list(dict.fromkeys(match["told"] for match in _ERROR.finditer(text)))
    message = "g++ refused the kernel:\n" + ("\n".join(errors[:_MOST_ERRORS]) or text.strip())
    if len(errors) > _MOST_ERRORS:
        message += f"\n... and {len(errors) - _MOST_ERRORS} more errors"
    message = "\n".join([message, *dict.fromkeys(_MESSAGE.findall(text))])
    for error in _ERROR.finditer(text):
        place = f"{error['file']}:{error['line']}"
        if found := _LACKED_BY.match(error["text"]):
            uses = _USE.findall(text, 0, error.start())
            return lacking(": ".join([*uses[-1:], found[1]]), message)
        if "expected primary-expression before '<'" in error["text"] and "<<<" in (error["shown"] or ""):
            return lacking(f"{place}: {_LAUNCH}", message)
        if _OVERLOADED in error["text"]:
            cause = "a launch names a template without its arguments, or a name of several functions"
            return Refused(f"{cause}. Name the arguments, as in sums<256>.\n{message}", cause)
        word = _word(error)
        if word and error["file"].startswith("launches of "):  # the unit's own lines, which nobody else sees
            cause = f"nothing that is compiled declares {word}: an #if leaves it out, or a header is missing"
            return Refused(f"{cause}. Name macros and folders in the options, as -DNAME=1.", cause)
        if word in _OF_CXX20:
            cause = f"{place}: {word} is a word of C++20. Name the language in the kernel's options: [-std=c++20]"
            return Refused(f"{cause}.\n{message}", cause)
        if word in _GONE:
            cause = f"{place}: {word} is gone since compute capability 7.0. Use {word}_sync, with a mask of lanes"
            return Refused(f"{cause}.\n{message}", cause)
        for header, words in _OF_HEADERS.items():
            if re.fullmatch(words, word):
                cause = f"{place}: {word} comes with {header}, which nothing includes here"
                return Refused(f"{cause}.\n{message}", cause)
        if _CUDA_WORD.fullmatch(word):
            return lacking(f"{place}: {word} {_LACKED}", message)
    if is_assembly(text):
        return lacking(_PTX, message)
    return Refused(message, next(iter(errors or text.strip().splitlines()), ""))


def lacking(cause: str, message: str = "") -> Refused:
    """The error that something is not supplied, with what g++ has printed."""
    return Refused(f"{cause}. {_HINT}\n{message}".strip(), cause, is_lacking=True)


def _word(error: re.Match[str]) -> str:
    """The name that g++ does not know, with the namespaces before it; "" where the error is another one."""
    column = int(error["column"] or 0)
    shown = (error["shown"] or "").removeprefix(" ")
    if "expected constructor, destructor, or type conversion before '('" in error["text"]:
        before = re.search(r"\w+(?=\s*$)", shown[: column - 1])  # an attribute that is unknown
        return before[0] if before else ""
    found = _UNKNOWN.search(error["text"])
    if not found:
        return ""
    word = "::".join(filter(None, found.group("around", "kind", "of", "method", "space", "member")))
    if found["name"]:  # The first part of a qualified name, which stands in the source.
        longer = re.match(rf"{re.escape(found['name'])}(?:\s*::\s*\w+)+", shown[column - 1 :])
        return longer[0].replace(" ", "") if longer else found["name"]
    return word or str(found["call"] or found["header"])
