"""What a file's host code says of a kernel's launches, read as text: grids, blocks, arguments, and the conditions."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from kernelsweep.base.cxx import split_list
from kernelsweep.results import MEASUREMENT_COLUMNS, POINT_COLUMNS
from kernelsweep.study.expressions import FUNCTIONS
from kernelsweep.study.problem.problem import CXX_TYPES, ITEM_SIZES
from kernelsweep.study.problem.user_module import GIVEN

_NUMPY = {
    **{cxx: dtype for dtype, cxx in CXX_TYPES.items()},
    **{"half": "float16", "nv_bfloat16": "bfloat16", "char": "int8", "unsigned": "uint32", "size_t": "uint64"},
    **{"long long": "int64", "unsigned long long": "uint64", "ssize_t": "int64", "ptrdiff_t": "int64"},
    **{"uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64"},
    **{"long int": "int64", "short int": "int16", "unsigned short int": "uint16", "long long int": "int64"},
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
# The types of several elements in a row.
_ROWS = {"half2": ("float16", 2), "__half2": ("float16", 2), "__nv_bfloat162": ("bfloat16", 2)}
_ROWS |= {"cuComplex": ("float32", 2), "cuFloatComplex": ("float32", 2), "cuDoubleComplex": ("float64", 2)}
_ROW = re.compile(r"(float|double|u?(?:char|short|int|long))([1-4])")
_QUALIFIERS = re.compile(r"\b(const|volatile|struct|enum|typename|register|__grid_constant__|_*restrict_*)\b")

# Names of parameters that mean something else in a problem or a study.
_TAKEN = {*keyword.kwlist, *keyword.softkwlist, *FUNCTIONS, *MEASUREMENT_COLUMNS, "np", "math", "cache", "toolkit"}
_TAKEN -= {*POINT_COLUMNS, "width"}
_TAKEN |= {name for names in GIVEN.values() for name in names}

WORD = re.compile(r"[A-Za-z_]\w*")
# In place of the end of a line after which a macro goes on.
JOINED = "\v\n"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[uUlLfF]*"
    r"|(?:std\s*::\s*)?(?P<name>[A-Za-z_]\w*)|(?P<sign><<|>>|&&|\|\||[=!<>]=|\S))"
)
_SIGNS = {sign: sign for sign in ("+", "-", "*", "%", "&", "|", "<<", ">>", "==", "!=", "<=", ">=", "<", ">")}
_SIGNS |= {"!": "not ", "&&": "and", "||": "or"}
_NUMBER = r"(?:unsigned|long|int|size_t|u?int\d+_t|float|double)"
_CAST = re.compile(rf"(?<!sizeof)\(\s*{_NUMBER}(?:\s+{_NUMBER})*\s*\)|\bstatic_cast\s*<[^<>]*>")
_CEIL_DIV = re.compile(r"i?_?((ceil|round_?up)_?div|div_?(ceil|(round_?)?up)|cdiv)\w*", re.IGNORECASE)
_LONGEST = 120  # characters of an expression of the host's
# What gives a name a value: the first words of a constant, the name, and the value, which others may lie in.
_ASSIGNED = re.compile(r"(?P<constant>\bconst\w*\s+\w+\s+)?\b(?P<name>\w+)\s*=(?!=)(?=\s*(?P<value>[^;]+);)")
_MACRO = re.compile(r"^[^\S\n]*#[^\S\n]*define[^\S\n]+(?P<name>\w+)[^\S\n]+(?P<value>\S(?:\v\n|[^\n])*)", re.MULTILINE)
_FUNCTIONS = (
    re.compile(r"#\s*define\s+(?P<name>\w+)\((?P<parameters>[^)]*)\)\s*(?P<value>\S(?:\v\n|[^\n])*)"),
    re.compile(r"\b(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)\s*\{\s*return\s+(?P<value>[^;]+);"),
)
_ENUMERATIONS = (
    re.compile(r"\benum\b(?:\s+class|\s+struct)?\s+(?P<name>\w+)\b[^;{}]*\{"),
    re.compile(r"\btypedef\s+enum\b[^{;]*\{[^{}]*\}\s*(?P<name>\w+)\s*;"),
)
_STATEMENT = re.compile(
    r"\b(if|else|switch|case|default|return|throw|exit|abort)\b|(\w*(?:assert|ASSERT|CHECK)\w*)\s*\(|[({};]"
)
_OF_DEVICE = {"threadIdx", "blockIdx", "blockDim", "gridDim"}


def names_of(text: str) -> list[str]:
    """The axes that an expression names."""
    return [name for name in dict.fromkeys(WORD.findall(text)) if name not in FUNCTIONS and not keyword.iskeyword(name)]


def python_name(name: str) -> str:
    """A parameter's name where Python, a problem or a study has no other meaning for it; else with a line behind it."""
    return f"{name}_" if name in _TAKEN else name


class Unknown(Exception):
    """Something of the host's that is no expression over sizes."""


@dataclass(frozen=True)
class Launch:
    """A launch as the host's text has it, and where it begins."""

    place: int
    template: Sequence[str]
    grid: str
    block: str
    shared: str
    arguments: Sequence[str]
    cooperative: bool = False


@dataclass(frozen=True)
class Condition:
    """A condition of the host's.

    holds     whether it holds, and not its contrary
    encloses  whether a branch depends on it; else something was asserted before
    """

    text: str
    holds: bool
    encloses: bool


@dataclass
class HostCode:
    """The text of a file and its headers without comments, in which launches and definitions are looked up.

    names   the study's names of what the host calls otherwise
    types   the types of a template, by its parameters
    unread  the template's parameters whose values in the launch can't be read
    chosen  functions that a template gets because no launch names one that can be read
    made_up  the template's parameters with any other value that no launch names so that it can be read
    followed  the names whose values are being looked up
    """

    text: str
    names: dict[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)
    made_up: set[str] = field(default_factory=set)
    followed: set[str] = field(default_factory=set)

    def launches(self, kernel: str) -> Iterator[Launch]:
        """The launches of a kernel, in the text's order."""
        named = rf"\b{kernel}\s*(?:<(?P<template>(?:[^<>;]|<[^<>;]*>)*)>)?"
        for found in re.finditer(rf"{named}\s*<<<", self.text):
            yield from self._launch(found.start(), found["template"], found.end())
        for found in re.finditer(rf"\b(?P<variable>\w+)\s*=\s*&?\s*(?:\w+\s*::\s*)*{named}\s*;", self.text):
            if launched := re.compile(rf"\b{found['variable']}\s*<<<").search(self.text, found.end()):
                yield from self._launch(launched.start(), found["template"], launched.end())
        runtime_or_own = rf"(?i:\b(\w*launch\w*))\s*(\()\s*(?:\([^()]*\*\s*\)\s*)?&?\s*(?:\w+\s*::\s*)*{named}\s*,"
        for found in re.finditer(runtime_or_own, self.text):
            place, template = found.start(), split_list(found["template"] or "")
            given = [*split_list(self.text[found.end() : _closing(self.text, found.start(2))]), "", "", "", ""]
            if of_runtime := re.fullmatch("cudaLaunch(Cooperative)?Kernel", found[1]):
                arguments = self._elements(given[2], place)
                yield Launch(place, template, given[0], given[1], given[3], arguments, bool(of_runtime[1]))
            elif not found[1].lower().startswith("cudalaunch") and (sides := self._configured(given[0], place)):
                yield Launch(place, template, sides[0], sides[1], sides[2], given[1:-4])

    def _configured(self, name: str, place: int) -> list[str]:
        """The grid, the block and the shared bytes in a configuration of the program's own; [] for another variable."""
        made = [*re.finditer(rf"\b{name}\s*(?:=\s*\w+\s*)?([({{])", self.text[:place])] if WORD.fullmatch(name) else []
        sides = split_list(self.text[made[-1].end() : _closing(self.text, made[-1].start(1))]) if made else []
        return sides[:3] if len(sides) in (3, 4) else []

    def _elements(self, array: str, place: int) -> list[str]:
        """What the host assigns to an array of pointers before a place, without a cast and an & before each."""
        before = self.text[:place]
        together = re.findall(rf"\b{array}\s*\[[^\]]*\]\s*=\s*\{{([^;]*)\}}", before)
        elements = split_list(together[-1]) if together else re.findall(rf"\b{array}\s*\[\w*\]\s*=([^;]+);", before)
        return [re.sub(r"^(\([^()]*\*\s*\))?\s*&?\s*", "", one.strip()) for one in elements]

    def _launch(self, place: int, template: str | None, opened: int) -> Iterator[Launch]:
        """The launch at a place, whose grid follows after `opened`; none where it does not end."""
        end = self.text.find(">>>", opened)
        opening = self.text.find("(", end)
        if end >= 0 and opening >= 0:
            given = [*split_list(self.text[opened:end]), "", ""]
            arguments = split_list(self.text[opening + 1 : _closing(self.text, opening)])
            yield Launch(place, split_list(template or ""), given[0], given[1], given[2], arguments)

    def function_type(self, kind: str) -> tuple[str, str, str] | None:
        """A parameter's name, and what the function to which it points returns and takes; None for other kinds."""
        words = WORD.findall(kind)
        if len(words) == 2:  # The type has a name.
            named = re.search(rf"\btypedef\s+([^;(]*)\(\s*\*\s*{words[0]}\s*\)\s*\(([^;()]*)\)\s*;", self.text)
            return (words[1], named[1], named[2]) if named else None
        plain = re.fullmatch(r"([^(]*)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)\s*", kind)
        return (plain[2], plain[1], plain[3]) if plain else None

    def values_of(self, launch: Launch, arguments: Mapping[str, str]) -> dict[str, str]:
        """What a launch passes for sizes, by the kernel's names for them; a name of the host's stays the kernel's.

        arguments  the launch's text for each of these parameters
        """
        of_block = {*WORD.findall(launch.block)}
        for name, text in arguments.items():
            text = re.sub(r"\s*(?:\.|->)\s*", ".", _CAST.sub("", text).strip("() "))
            loop = re.findall(rf"\bfor\s*\([^;]*\b{re.escape(text)}\s*=\s*(\d+)\s*;", self._above(launch.place))
            is_name = bool(re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", text))
            if is_name and not (self._has_own_value(text, launch.place) or self._follows(text, of_block, launch.place)):
                self.names.setdefault(text, loop[-1] if loop else name)
        values = {}
        for name, text in arguments.items():
            value = name
            with suppress(Unknown):
                value = self.expression(text, launch.place)
            values[name] = name if value.isdigit() and int(value) > 4096 else value
        return values

    def conditions(self, place: int) -> list[Condition]:
        """What holds at a place of a function: the branches it stands in, and what was asserted, or else returned."""
        return _conditions(re.sub(r"(?m)^[^\S\n]*#.*$", lambda line: " " * len(line[0]), self._above(place)))

    def _above(self, place: int) -> str:
        """The host's function up to a place in it."""
        return self.text[self.text.rfind("\n}", 0, place) + 1 : place]

    def condition(self, text: str, place: int) -> str:
        """A host's condition over a study's names, in Python. Raises Unknown."""
        if "?" in text:
            raise Unknown
        try:
            return ast.unparse(ast.parse(self._translated(_CAST.sub("", text), place, 0, "//"), mode="eval"))
        except SyntaxError:
            raise Unknown from None

    def assigned(self, name: str, place: int) -> list[str]:
        """The different values that the host's function gives a name before a place."""
        start = self.text.rfind("\n}", 0, place) + 1
        every = _found(_ASSIGNED, self.text).get(name, ())
        own = (one for one in every if start <= one.start("name") and one.end("value") < place)
        return [*dict.fromkeys(one["value"] for one in own)]

    def has_value(self, name: str, place: int) -> bool:
        """Whether the host gives a name, or the structure that it is a member of, some value before a place."""
        return bool(self._value(name, place) or re.search(rf"\bdim3[\s&*]+{name.rpartition('_')[0]}\b", self.text))

    def _follows(self, name: str, others: set[str], place: int, depth: int = 5) -> bool:
        """Whether a name is one of others with a number, such as the block's, or the host computes it of these."""
        value = self._value(name, place)
        words = {name} if value.isdigit() else {*WORD.findall(value)}
        further = (word for word in words - {name} if depth)
        return bool(words & others) or any(self._follows(word, others, place, depth - 1) for word in further)

    def _has_own_value(self, name: str, place: int) -> bool:
        """Whether a name's value follows from others, or is a macro's that the device's code has as well."""
        value = self._value(name, place)
        with suppress(Unknown):
            follows = bool(value and WORD.search(self.expression(value, place)))
            in_kernel = rf"__global__[^;{{]*\{{[^<]*\b{name}\b"
            return follows or (name in _found(_MACRO, self.text) and bool(re.search(in_kernel, self.text)))
        return False

    def sides(self, text: str, place: int) -> list[str]:
        """The sides of a grid or a block."""
        text = text.strip().removeprefix("(dim3)")
        if made := re.fullmatch(r"dim3\s*[({](.*)[)}]|\{(.*)\}", text, re.DOTALL):
            return [self.expression(side, place) for side in split_list(made[1] or made[2] or "1")]
        if WORD.fullmatch(text):
            before = self.text[:place]
            declared = [*re.finditer(rf"\bdim3\b[^;]*?\b{text}\s*[({{]|\b{text}\s*=\s*(?:dim3\s*[({{]|\{{)", before)]
            if declared:
                opening = declared[-1].end() - 1
                inner = self.text[opening + 1 : _closing(self.text, opening)]
                return self.sides(inner if re.match(r"\s*dim3\b", inner) else f"{{{inner}}}", opening)
            value = r"\s*=\s*(?:[\w.]+\s*=(?!=)\s*)*([^;]+);"
            members = [[*re.finditer(rf"\b{text}\s*\.\s*{side}{value}", before)] for side in "xyz"]
            if members[0] and re.search(rf"\bdim3\b[^;]*\b{text}\b", before):
                return [self.expression(of[-1][1], of[-1].start()) if of else "1" for of in members]
            if assigned := re.findall(rf"\bdim3\b[^;=]*\b{text}\s*=\s*([^;]+);", before):
                return self.sides(assigned[-1], place)
        return [self.expression(text, place)]

    def expression(self, text: str, place: int, depth: int = 0) -> str:
        """A host's expression as a study has it; names without a value are axes. Raises Unknown."""
        if depth > 20:
            raise Unknown
        is_real = bool(re.search(r"\d\.|(?<!sizeof)\((?:float|double)\)|ceil", text))
        joined = self._translated(_CAST.sub("", text), place, depth, "/" if is_real else "//")
        if not WORD.search(joined.replace("not", "")):
            try:
                return f"{eval(joined):.0f}"
            except (ArithmeticError, SyntaxError, ValueError, TypeError) as error:
                raise Unknown from error
        if len(joined) > _LONGEST:  # A name that follows from itself.
            raise Unknown
        with suppress(SyntaxError):
            shown = ast.unparse(_WithoutShifts().visit(ast.parse(joined, mode="eval")))  # with the fewest brackets
            if not re.search(r"<<|>>|[&|]", shown):
                return shown
        raise Unknown

    def _translated(self, text: str, place: int, depth: int, division: str) -> str:
        text = text.strip()
        if "?" in (flat := _flat(text)):
            ends = [0, flat.index("?"), flat.rfind(":"), len(text)]
            when, then, otherwise = (
                self._translated(text[start + (start > 0) : end], place, depth, division)
                for start, end in pairwise(ends)
            )
            return f"((({when}) != 0) * ({then}) + (({when}) == 0) * ({otherwise}))"
        found, at = [], 0
        while token := _TOKEN.match(text, at):
            kind, word, at = token.lastgroup, token[token.lastgroup or 0], token.end()
            member = re.compile(r"\s*(?:\.|->)\s*(\w+)").match(text, at) if kind == "name" else None
            if kind == "number":
                found.append(str(int(word, 16)) if word[:2] in ("0x", "0X") else word)
            elif word == "(":
                end = _closing(text, at - 1)
                found.append(f"({self._translated(text[at:end], place, depth, division)})")
                at = end + 1
            elif kind == "name" and text[at:].lstrip().startswith("("):
                opening = text.index("(", at)
                at = _closing(text, opening) + 1
                found.append(self._call(word, split_list(text[opening + 1 : at - 1]), place, depth))
            elif member:
                at = member.end()
                if text[at:].lstrip().startswith("("):
                    raise Unknown
                found.append(self._member(word, member[1], place))
            elif kind == "name":
                found.append(self._name(word, place, depth))
            elif word in {*_SIGNS, "/"}:
                found.append(_SIGNS.get(word, division))
            else:
                raise Unknown
        return " ".join(found)

    def _member(self, name: str, member: str, place: int) -> str:
        whole = f"{name}.{member}"
        is_of_host = name not in _OF_DEVICE or re.search(rf"\bdim3\b[^;]*\b{name}\b", self._above(place))
        if whole not in self.names and len(member) == 1 and member in "xyz" and is_of_host:
            sides = self.sides(name, place)
            if sides != [python_name(name)]:
                return f"({sides['xyz'.index(member)] if 'xyz'.index(member) < len(sides) else 1})"
        return self.names.get(whole, f"{name}_{member}")

    def _name(self, name: str, place: int, depth: int) -> str:
        if name in self.names:
            return self.names[name]
        if name in _OF_DEVICE or name in self.followed:  # A name that follows from itself has no value.
            raise Unknown
        if value := self._value(name, place):
            self.followed.add(name)
            with suppress(Unknown), ExitStack() as stack:
                stack.callback(self.followed.remove, name)
                return f"({self.expression(value, place, depth + 1)})"
        return _enumerators(self.text).get(name) or python_name(name)

    def _value(self, name: str, place: int) -> str:
        """What the host gives a name before a place, or a macro; "" where that is not known."""
        every, macros = (_found(form, self.text).get(name, []) for form in (_ASSIGNED, _MACRO))
        before = [one["value"] for one in every if one.end("value") < place]
        assigned = self.assigned(name, place) or before or [one["value"] for one in every if one["constant"]]
        for value in (*(one["value"] for one in macros[-1:]), *assigned[-1:]):
            first = split_list(value)[0]
            if not {name, *_OF_DEVICE} & {*WORD.findall(first)}:
                counted = rf"\bif\s*\([^;{{}}]*%[^;{{}}]*\)\s*\{{?\s*(?:{name}\s*(?:\+=\s*1|\+\+)|\+\+\s*{name})\s*;"
                divided = re.fullmatch(r"(.+)/\s*(\w+|\([^()]*\))\s*", first)
                if divided and re.search(counted, self.text[:place]):  # One more for the rest.
                    return f"({divided[1]} + {divided[2]} - 1) / {divided[2]}"
                return first
        return ""

    def _call(self, name: str, arguments: Sequence[str], place: int, depth: int) -> str:
        if name == "sizeof":
            element = element_of(self.types.get(arguments[0].strip(), arguments[0]), self)
            if not element:
                raise Unknown
            return str(ITEM_SIZES[element[0]] * element[1])
        if found := next((of[0] for form in _FUNCTIONS if (of := _found(form, self.text).get(name))), None):
            names = [WORD.findall(one)[-1] for one in split_list(found["parameters"]) if WORD.search(one)]
            values = dict(zip(names, (f"({one})" for one in arguments), strict=False))
            body = WORD.sub(lambda word: values.get(word[0], word[0]), found["value"])
            with suppress(Unknown):
                return f"({self.expression(body, place, depth + 1)})"
        values_ = [self.expression(one, place, depth + 1) for one in arguments]
        if _CEIL_DIV.fullmatch(name) and len(values_) == 2:
            return f"(({values_[0]} + {values_[1]} - 1) // ({values_[1]}))"
        name = {"ceilf": "ceil"}.get(name, name)
        if name not in FUNCTIONS:
            raise Unknown
        return f"{name}({', '.join(values_)})"


class _WithoutShifts(ast.NodeTransformer):
    """Makes n // 4 of n >> 2, and n * 4 of n << 2, as a study has them."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        self.generic_visit(node)
        bits = node.right.value if isinstance(node.right, ast.Constant) else None
        if not isinstance(node.op, (ast.LShift, ast.RShift)) or not isinstance(bits, int) or bits > 64:
            return node
        operator = ast.Mult() if isinstance(node.op, ast.LShift) else ast.FloorDiv()
        return ast.BinOp(node.left, operator, ast.Constant(2**bits))


def _conditions(text: str) -> list[Condition]:
    """What holds at the end of a text with a function's beginning."""
    reached: list[Condition] | None = None

    def block(at: int, above: Sequence[Condition], selector: str, is_whole: bool = False) -> tuple[int, bool]:
        """Read a block of statements, which runs under the conditions above: its end, and whether it always returns.

        selector  of the switch whose block it is; else ""
        is_whole  whether it is the text, whose brackets end no block
        """
        nonlocal reached
        holds, under, before = list[Condition](), list[Condition](), list[Condition]()
        cases, seen, is_label, exits, leaves, of_switch = list[str](), list[str](), False, False, False, ""

        def here() -> list[Condition]:
            of_case = " || ".join(f"({selector}) == ({one})" for one in cases or seen)
            return [*above, *holds, *([Condition(of_case, bool(cases), True)] if of_case else []), *under]

        while reached is None and (token := _STATEMENT.search(text, at)):
            word, checked, at = token[1] or token[0], token[2], token.end()
            opening = text.find("(", at - 1)
            closing = _closing(text, opening) if word in ("if", "switch", "(") or checked else 0
            if closing >= len(text):  # The place is inside of these brackets.
                continue
            inside, at = text[opening + 1 : closing].strip(), max(at, closing + 1)
            if word == "if":
                under = [*under, Condition(inside, True, True)]
            elif word == "switch":
                of_switch = inside
            elif checked:
                holds.append(Condition((split_list(inside) or [""])[0], True, False))
            elif word == "else":
                under = [*before[:-1], *(replace(one, holds=not one.holds) for one in before[-1:])]
            elif word in ("case", "default"):
                end = text.find(":", at)
                cases = [*(cases if is_label else []), *([text[at:end].strip()] if word == "case" else [])]
                seen, is_label, at = [*seen, *cases[-1:]], True, end + 1
            elif word in ("{", ";", "}"):
                if word == "}" and not is_whole:
                    return at, leaves
                if word == "{":
                    at, exits = block(at, here(), of_switch)
                if exits and len(under) == 1:
                    holds.append(replace(under[0], holds=not under[0].holds, encloses=False))
                before, under, exits, is_label, of_switch = under, [], False, False, ""
            elif word != "(":
                leaves, exits = leaves or not under, True
        reached = here() if reached is None else reached
        return at, leaves

    block(0, [], "", is_whole=True)
    return reached or []


def element_of(text: str, host: HostCode, depth: int = 0) -> tuple[str, int] | None:
    """NumPy's type of C++'s, and how many of its elements there are in one; None for a type that is not known."""
    kind = " ".join(_QUALIFIERS.sub(" ", text).replace("&", " ").split()).rpartition("::")[2]
    if kind in _NUMPY:
        return _NUMPY[kind], 1
    if kind in CXX_TYPES or kind in _ROWS:
        return _ROWS.get(kind)
    if row := _ROW.fullmatch(kind):
        return _NUMPY[row[1]], int(row[2])
    if depth < 5 and WORD.fullmatch(kind):
        forms = rf"typedef\s+([\w\s]+?)\s+{kind}\s*;|using\s+{kind}\s*=([\w\s:]+);|#\s*define\s+{kind}[ \t]+([\w ]+)"
        for found in re.finditer(forms, host.text):
            if _is_compiled(host.text, found.start()):
                return element_of(found[found.lastindex or 0], host, depth + 1)
    return None


def _is_compiled(text: str, place: int) -> bool:
    """Whether no `#ifdef` or `#ifndef` leaves a place out, by the macros that the text defines before it."""
    open_ones: list[bool | None] = []
    directive = r"(?m)^[^\S\n]*#[^\S\n]*"
    for found in re.finditer(rf"{directive}(if|ifdef|ifndef|el\w+|endif)\b[^\S\n]*(\w*)", text[:place]):
        kind, name = found.groups()
        if kind.startswith("if"):
            is_defined = bool(re.search(rf"{directive}define[^\S\n]+{name}\b", text[: found.start()]))
            open_ones.append(None if kind == "if" else is_defined == (kind == "ifdef"))
        elif open_ones:
            last = open_ones.pop()
            open_ones += [] if kind == "endif" else [None if last is None else not last]
    return False not in open_ones


def is_enumeration(kind: str, host: HostCode) -> bool:
    """Whether a parameter's type is an enumeration of the file, such as ``mode_t``."""
    name = " ".join(_QUALIFIERS.sub(" ", kind).split()).rpartition("::")[2]
    return any(name in _found(form, host.text) for form in _ENUMERATIONS)


@cache
def _found(form: re.Pattern[str], text: str) -> dict[str, list[re.Match[str]]]:
    """The places in a text that have a form, in their order, by the name in it."""
    found: dict[str, list[re.Match[str]]] = {}
    for one in form.finditer(text):
        found.setdefault(one["name"], []).append(one)
    return found


@cache
def _enumerators(text: str) -> dict[str, str]:
    values = (re.findall(r"\b(\w+)\s*=\s*(\d+)", one) for one in reversed(re.findall(r"\benum\b[^;]*", text)))
    return {name: value for each in values for name, value in each}


def _closing(text: str, opening: int) -> int:
    """The place of the bracket that closes the one at `opening`; the text's end where none does."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return len(text)


def _flat(text: str) -> str:
    """The text with blanks in place of brackets and what is in them."""
    while (shown := re.sub(r"[(\[{][^()\[\]{}]*[)\]}]", lambda inner: " " * len(inner[0]), text)) != text:
        text = shown
    return text
