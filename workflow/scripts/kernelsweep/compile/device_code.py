"""Cut a source down to some functions of the device and what they use, so that its other code need not compile.

A published file holds `main`, launches, calls of the CUDA runtime and other kernels, which neither the emulator nor a
build without the file's own headers can compile. The parser knows C++ at the level of namespaces only: it finds
definitions and declarations by their brackets, and what they use by name. It keeps too much rather than too little.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kernelsweep.base.cxx import LITERALS, cxx_code, split_list
from kernelsweep.study.kernels.source import read_source

_TOKEN = re.compile(
    r"(?P<comment>//(?:\\.|[^\\\n])*|/\*.*?(?:\*/|\Z))"
    r"|(?P<directive>^[^\S\n]*\#(?:\\\n|//[^\n]*|/\*.*?(?:\*/|\Z)|[^\n])*+)"
    r"|(?P<name>(?!(?:u8|[uUL])?R\")[A-Za-z_]\w*)"
    rf"|(?P<literal>{LITERALS})"
    r"|(?P<sign>::|\S)",
    re.DOTALL | re.MULTILINE,
)
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.DOTALL)
_CONDITION = re.compile(r"\s*#\s*(if|el|endif)")
# What stays of code that is cut out.
_KEPT_DIRECTIVE = re.compile(r"\s*#\s*(?:if|el|endif|define|undef|line)")
_INCLUDE = re.compile(
    r"^[^\S\n]*#[^\S\n]*(?:include[^\S\n]*(<[^>\n]+>|\"[^\"\n]+\")|(?:el|endif))(?:\\\n|[^\n])*$", re.MULTILINE
)
# What stands for headers that are left out, by their names: CUDA's own headers that these include, and what their code
# is for kernels.
_HALVES = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"
_TORCH = Path(__file__).with_name("torch.cuh").read_text(encoding="utf-8")
_STAND_INS = (
    (re.compile(r"(cublas\w*|cudnn\w*|cusparse\w*|cusolver\w*|cufft\w*|cutensor\w*|library_types)\.h"), _HALVES),
    (re.compile(r"(torch|ATen|c10|THC)/"), _TORCH),
    (re.compile(r"(ATen/cuda/Atomic|THC/THCAtomics)\.cuh"), "#define gpuAtomicAdd atomicAdd\n"),
)
# What compilers print of a header that is left out.
_LEFT_OUT = re.compile(
    r"^[^\n]*note: '#pragma message: left out: (?P<by_gxx>[^'\n]+)'\n?(?:[ \d]*\|[^\n]*\n?)*"
    r"|^[^\n]*: #pragma message: \"left out: (?P<by_nvcc>[^\"\n]+)\"\n[^\n]*\n\s*\^\n*",
    re.MULTILINE,
)
# What opens a namespace, or a linkage.
_NAMESPACE = re.compile(r'\bnamespace\b|^extern "[^"]*"$')
# A directive that gives a name a value or takes it away, or that unrolls a loop a number of times.
_VALUE = re.compile(
    r"^[^\S\n]*#[^\S\n]*(?:(?:define|undef)[^\S\n]+(\w+)(?://[^\n]*|/\*.*?(?:\*/|\Z)|\\\n|[^\n])*+|pragma[^\S\n]+unroll\b[^\n]+)",
    re.MULTILINE | re.DOTALL,
)
_NEVER = re.compile(r"\s*#\s*if\s+0\s*$")
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERANDS = "[^;{}()]*"
for _ in range(5):  # brackets in brackets
    _OPERANDS = rf"(?:[^;{{}}()]|\({_OPERANDS}\))*"
# A variable or an array, and what is assigned to it: to the end of the statement, or of a loop's head.
_ASSIGNED = re.compile(rf"(\w+)\s*(?:\[[^\]]*\]\s*)*[-+*/%&|^]?=(?!=)(?=({_OPERANDS}))")
_ATTRIBUTE = re.compile(r"__\w+__$|alignas$|decltype$|noexcept$|explicit$|requires$")
_AFTER_A_NAME = {"(", "[", "{", "<", "=", ";", ",", ":"}
# A default that is a call.
_DEFAULT_CALL = re.compile(r"(?<==)\s*[\w:]+\s*\([^()]*\)")
_OF_DEVICE = {"__device__", "__global__", "__constant__", "constexpr", "consteval"}
_TYPE = {"class", "struct", "union"}
# The head of a function or of a namespace has fewer words outside of brackets.
_MOST_TOKENS = 200
_ALWAYS = {"operator", "namespace", "static_assert"}


@dataclass
class _Item:
    """A definition or a declaration at the level of namespaces.

    start, end  its text's place
    defines     the names by which others use it; None where it always stays
    uses        the names in it
    function    whether it is a function's definition or declaration
    head        the names in it outside brackets
    parameters  the place of a function's
    template    that of its template's
    spaces      the named namespaces around it
    """

    start: int
    end: int
    defines: frozenset[str] | None
    uses: frozenset[str]
    function: bool
    head: frozenset[str]
    parameters: slice
    template: slice
    spaces: tuple[str, ...]


def write_device_code(
    folder: Path,
    files: Sequence[Path],
    functions: Sequence[str] | None,
    macros: Mapping[str, str] | None = None,
    used: Iterable[str] = (),
    without: Iterable[str] = (),
) -> Path:
    """Write copies of a kernel's file and of the files that it includes, less what its functions don't need.

    folder     gets a copy of each file at the file's absolute path below it, so that they include each other
    files      the kernel's first
    functions  in C++, such as ``unrolled<int, Sum>``; if one is in none of the files, or there are none, all code of
               the device stays; None where all code stays
    macros     values by macro, in place of those that the files define; they also stand for it in a `#pragma unroll`,
               where nvcc expands none
    used       further names
    without    headers to leave out, as lacking_headers() gives them

    Lines keep their numbers, and compilers name the original files. A header that is nowhere is left out, as host code
    may have needed it; left_out() tells which. Macros are not defined while other headers than `files` are read, which
    may have these names. Returns the kernel's copy.
    """
    texts = {Path(os.path.abspath(file)): read_source(file) for file in files}
    parsed = {file: _parsed(text) for file, text in texts.items()}
    defined = macros or {}
    kept = _Reachable(list(parsed.values()), functions or [], [*defined.values(), *used])
    for file, text in texts.items():
        cut = [item for item in parsed[file].items if functions is not None and not kept(item)]
        copy = folder / file.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        kept_text = _VALUE.sub(partial(_given, defined), _without(text, cut))
        optional = _optional_headers(kept_text, set(without), files, [*defined])
        copy.write_text(f'#line 1 "{file}"\n{optional}', encoding="utf-8")
    return folder / next(iter(texts)).relative_to("/")


def device_text(text: str) -> str:
    """A source less the functions that only the host can run."""
    parsed = _parsed(text)
    is_kept = _Reachable([parsed], (), ())
    return _without(text, [item for item in parsed.items if not is_kept(item)])


def lacking_headers(message: str, files: Sequence[Path]) -> set[str]:
    """The headers, such as ``<gl.h>``, that files include and a compiler refused for a missing one.

    message  the compiler's, which names the files from the missing header's place to the kernel
    """
    chain, missing, _ = message.partition(": No such file or directory")
    places = {Path(name).resolve() for name in re.findall(r"(?<![^\s:])([^\s:]++):\d", chain) if missing}
    others = places - {file.resolve() for file in files}
    named = {header for file in files for header in _INCLUDE.findall(read_source(file)) if header}
    return {header for header in named if any(str(other).endswith(f"/{header[1:-1]}") for other in others)}


def left_out(printed: str) -> tuple[str, list[str]]:
    """What a compiler has printed, without the lines on headers that are left out; and these headers, in order."""
    names = dict.fromkeys(found["by_gxx"] or found["by_nvcc"] for found in _LEFT_OUT.finditer(printed))
    return _LEFT_OUT.sub("", printed), [*names]


def _given(macros: Mapping[str, str], directive: re.Match[str]) -> str:
    """A directive with the values of macros in place of its own: of a definition, its line ends are left."""
    if directive[1] in macros:
        return "\n" * directive[0].count("\n")
    return directive[0] if directive[1] else _NAME.sub(lambda name: macros.get(name[0], name[0]), directive[0])


class KernelHead(NamedTuple):
    """A kernel's name with its namespaces, its template's parameters, and its own, such as ``const float *x``.

    line  of its name
    text  from its template to its last bracket, without comments
    """

    function: str
    template: list[str]
    parameters: list[str]
    line: int
    text: str


def kernel_heads(text: str) -> dict[str, KernelHead]:
    """The kernels of a source by their names, in order: of each its first definition, else a declaration."""

    def separate(parameters: slice) -> list[str]:
        plain = " ".join(cxx_code(text[parameters], keep_leading=False).split())
        return split_list(_DEFAULT_CALL.sub("", plain), "<>()")

    heads: dict[str, KernelHead] = {}
    for item in _parsed(text).items:
        for name in (item.defines or ()) if item.function and "__global__" in item.head else ():
            if name not in heads or not heads[name].text.endswith("}"):
                line = text.count("\n", 0, item.parameters.start) + 1
                whole = cxx_code(text[item.start : item.end], keep_leading=False)
                function = "::".join((*item.spaces, name))
                heads[name] = KernelHead(function, separate(item.template), separate(item.parameters), line, whole)
    return heads


def reaches_address(body: str, array: str) -> bool:
    """Whether values of an array may be indices in a kernel, also by way of its variables."""
    plain, of_array = re.sub(r"(?:\.|->)\s*\w+", "", body), {array}
    assigned = [*_ASSIGNED.finditer(plain)]
    for _ in assigned:  # A loop may use a variable before the line that assigns it.
        of_array |= {one[1] for one in assigned if of_array & {*_NAME.findall(one[2])}}
    indices = " ".join(re.findall(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]", plain))
    return bool(of_array & {*_NAME.findall(indices)})


def constant_names(text: str) -> set[str]:
    """The names of a source's variables in constant memory."""
    items = [item for item in _parsed(text).items if "__constant__" in item.head and not item.function]
    return {name for item in items for name in item.defines or ()}


def host_variables(text: str, functions: Sequence[str]) -> dict[str, str]:
    """The variables in constant or global memory that functions use and that have no value, with their definitions.

    functions  in C++, as of write_device_code()
    """
    parsed = _parsed(text)
    kept = _Reachable([parsed], functions, ())
    return {
        name: definition
        for item in parsed.items
        if not item.function and item.head & {"__constant__", "__device__"} and kept(item)
        if "=" not in (definition := cxx_code(text[item.start : item.end], keep_leading=False))
        and "{" not in definition
        for name in item.defines or ()
    }


class _Reachable:
    """Whether an item stays: it is a function's, or is used, directly or through other items and macros."""

    def __init__(self, parsed: Sequence[_Parsed], functions: Sequence[str], used: Iterable[str]) -> None:
        self._macros: dict[str, set[str]] = defaultdict(set)
        for each in parsed:
            for name, uses in each.macros.items():
                self._macros[name] |= uses
        items = [item for each in parsed for item in each.items if self._of_device(item)]
        users: dict[str, list[_Item]] = defaultdict(list)
        for item in items:
            for name in item.defines or ():
                users[name].append(item)
        self._found: set[str] | None = None
        kernels = {name.partition("<")[0].rpartition("::")[2].strip() for name in functions}
        if not kernels or not kernels <= users.keys():
            return
        self._found = set()
        waiting = set(_NAME.findall(" ".join([*functions, *used])))
        waiting.update(*(item.uses for item in items if item.defines is None))
        while waiting:
            name = waiting.pop()
            self._found.add(name)
            waiting |= self._macros.get(name, set()).union(*(item.uses for item in users[name])) - self._found

    def __call__(self, item: _Item) -> bool:
        if not self._of_device(item):
            return False
        return self._found is None or item.defines is None or not self._found.isdisjoint(item.defines)

    def _of_device(self, item: _Item) -> bool:
        """Whether the device can run it: anything but a function without a word for that, also through macros."""
        if not item.function:
            return True
        words, waiting = set(), set(item.head)
        while waiting:
            words |= waiting
            waiting = {word for name in waiting for word in self._macros.get(name, ())} - words
        return not words.isdisjoint(_OF_DEVICE)


def _optional_headers(text: str, without: Collection[str], own: Sequence[Path], macros: Sequence[str]) -> str:
    """The text with each header included only if there is one. Every branch begins at its line.

    own     the files for which macros are defined
    macros  are not defined in any other one, but for those that have its name in theirs, as GLM_FORCE has glm's
    """

    def guarded(match: re.Match[str]) -> str:
        header, line = match[1], text.count("\n", 0, match.end()) + 2
        if not header:
            return f"{match[0]}\n#line {line}"
        name = header[1:-1]
        lacking = "".join(stand_in for names, stand_in in _STAND_INS if names.match(name))
        lacking += f'#pragma message "left out: {header if header[0] == "<" else name}"'
        if header in without:
            return f"{lacking}\n#line {line}"
        is_own = any(f"/{file}".endswith(f"/{re.sub('^([.]{1,2}/)+', '', name)}") for file in own)
        library = name.partition("/")[0].partition(".")[0].lower()
        hidden = [] if is_own else [macro for macro in macros if library not in macro.lower()]
        before = "".join(f'#pragma push_macro("{macro}")\n#undef {macro}\n' for macro in hidden)
        after = "".join(f'#pragma pop_macro("{macro}")\n' for macro in hidden)
        return f"#if __has_include({header})\n{before}#include {header}\n{after}#else\n{lacking}\n#endif\n#line {line}"

    return _INCLUDE.sub(guarded, text)


def _without(text: str, cut: Iterable[_Item]) -> str:
    """The text with these items replaced by their line ends and their preprocessor's conditions."""
    parts, place = [], 0
    for item in cut:
        parts += [text[place : item.start], _lines(text[item.start : item.end])]
        place = item.end
    return "".join([*parts, text[place:]])


def _lines(text: str) -> str:
    kept, place = [], 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "directive" and _KEPT_DIRECTIVE.match(token[0]):
            kept += ["\n" * text.count("\n", place, token.start()), token[0]]
            place = token.end()
    return "".join([*kept, "\n" * text.count("\n", place)])


@cache
def _parsed(text: str) -> _Parsed:
    parsed = _Parsed()
    parsed.read(text)
    return parsed


@dataclass
class _Parsed:
    """A text's items, and what is open while it is read: the tokens and names of an item, and conditions around it.

    items        none where brackets don't match
    macros       the names in their values, by macro
    depth        of the open brackets of an item
    in_function  whether that is a function's
    branches     of each open condition, what was open where it begins
    skipped      conditions that are open within an #if 0
    """

    items: list[_Item] = field(default_factory=list)
    macros: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    depth: int = 0
    namespaces: tuple[str, ...] = ()
    in_function: bool = False
    head: list[re.Match[str]] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    branches: list[tuple[int, tuple[str, ...], bool, list[re.Match[str]]]] = field(default_factory=list)
    skipped: int = 0

    def read(self, text: str) -> None:
        """Find the items and the macros of a text."""
        for token in _TOKEN.finditer(text):
            if token.lastgroup == "directive":
                self._direct(token[0])
            elif token.lastgroup != "comment" and not self.skipped and not self._take(token):
                break
        self._end_item(len(text))
        if self.depth or self.namespaces:
            self.items.clear()

    def _direct(self, directive: str) -> None:
        """Take in a directive. Each branch begins as the first one did: what begins in one may end in another."""
        condition = _CONDITION.match(directive)
        kind = condition[1] if condition else ""
        if self.skipped:
            self.skipped += (kind == "if") - (kind == "endif" or (kind == "el" and self.skipped == 1))
        elif define := _DEFINE.match(directive):
            self.macros[define[1]] |= set(_NAME.findall(define[2]))
        elif kind == "if":
            self.skipped = int(bool(_NEVER.match(directive)))
            self.branches.append((self.depth, self.namespaces, self.in_function, [*self.head]))
        elif kind == "el" and self.branches:
            self.depth, self.namespaces, self.in_function, head = self.branches[-1]
            self.head = [*head] or self.head
        elif kind and self.branches:
            self.branches.pop()

    def _take(self, token: re.Match[str]) -> bool:
        """Take in another token; False where more brackets end than have begun."""
        word, head = token[0], self.head
        begins = word == "{" and len(head) <= _MOST_TOKENS
        if token.lastgroup == "name":
            self.names.add(word)
        if self.depth == 0 and begins and _NAMESPACE.search(before := " ".join(each[0] for each in head)):
            self.namespaces += (before.replace(" ", "").rpartition("namespace")[2],)
            head.clear()
            self.names.clear()
        elif self.depth == 0 and word == "}":
            self._end_item(token.start())
            self.depth = 0 if self.namespaces else -1
            self.namespaces = self.namespaces[:-1]
        elif head or word != ";":
            before_bracket = self.depth
            if self.depth == 0 and word == "{":
                self.in_function = begins and _opens_function(head)
            self.depth += (word in "{([") - (word in "})]")
            if not (before_bracket and self.depth):
                head.append(token)
            if self.depth == 0 and (word == ";" or (word == "}" and self.in_function)):
                self._end_item(token.end())
        return self.depth >= 0

    def _end_item(self, end: int) -> None:
        if self.head:
            self.items.append(_item(self.head, self.names, end, self.in_function, self.namespaces))
        self.head.clear()
        self.names.clear()
        self.in_function = False


def _opens_function(head: Sequence[re.Match[str]]) -> bool:
    """Whether a bracket after these tokens begins a function's body."""
    words = _outside_template([token[0] for token in head])
    if "(" not in words or ("=" in words and "operator" not in words):
        return False
    return _TYPE.isdisjoint(words) or words[-1] in {")", "const", "noexcept"}


def _outside_template(words: Sequence[str], is_type: bool = False) -> list[str]:
    """The words without a template's parameters; of a type and a name also without arguments, up to a value."""
    depth, kept = 0, []
    for word, before in zip(words, ["", *words], strict=False):
        if word == "<" and (depth or before == "template" or (is_type and "=" not in kept)):
            depth += 1
        elif word == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(word)
    return kept


def _item(
    head: Sequence[re.Match[str]], names: Iterable[str], end: int, function: bool, spaces: Iterable[str]
) -> _Item:
    """An item from its tokens outside brackets, and from all names in it; function: whether its body was open."""
    every = [token[0] for token in head]
    words = _outside_template(every)
    in_brackets = set() if function else _declared_in_brackets(head)
    if not function:
        instantiated = every[0] == "template" and every[1:2] != ["<"]
        # A type, a name and brackets. A macro with its arguments has no type.
        name = _function_name(words)
        is_declared = bool(name) and words[0] not in {name, "typedef", "using", "static_assert"} and "=" not in words
        function = instantiated or (is_declared and not in_brackets)
    named = pairwise(_outside_template(words, is_type=True))
    outside = {word for word, after in named if _NAME.match(word) and after in _AFTER_A_NAME}
    defined = {_function_name(words)} if function else set() if "enum" in words else in_brackets or outside
    return _Item(
        head[0].start(),
        end,
        frozenset(defined or names) if _ALWAYS.isdisjoint(words) else None,
        frozenset(names),
        function,
        frozenset(words),
        _parameters(head, _function_name(words)) if function else slice(0, 0),
        slice(head[2].start(), head[len(every) - len(words)].start()) if len(words) < len(every) else slice(0, 0),
        tuple(name for name in spaces if name.replace("::", "").isidentifier()),
    )


def _declared_in_brackets(head: Sequence[re.Match[str]]) -> set[str]:
    """The names that a declaration has in brackets, such as ``callback`` of ``bool (*callback)(int)``."""
    names = set()
    for opening, closing, after in zip(head, head[1:], head[2:], strict=False):
        if (opening[0], closing[0]) == ("(", ")") and after[0] in ("(", "["):
            inner = opening.string[opening.end() : closing.start()]
            if head[0][0] == "typedef" or inner.lstrip().startswith(("*", "&")):
                names |= {*_NAME.findall(inner.partition("(")[0])}
    return names


def _parameters(head: Sequence[re.Match[str]], name: str) -> slice:
    """The place of what is in the brackets after a function's name."""
    for before, opening, closing in zip(head, head[1:], head[2:], strict=False):
        if before[0] == name and opening[0] == "(":
            return slice(opening.end(), closing.start())
    return slice(0, 0)


def _function_name(words: Sequence[str]) -> str:
    """The name before a function's parameters, which are the last brackets that belong to no attribute."""
    end = words.index(":") if ":" in words else len(words)
    found = ""
    for place in range(1, end):
        if words[place] == "(":
            name = place - 1
            if words[name] == ">" and "<" in words[:name]:  # a specialization's arguments
                name = max(at for at in range(name) if words[at] == "<") - 1
            if _NAME.match(words[name]) and not _ATTRIBUTE.match(words[name]):
                found = words[name]
    return found
