"""Guess from a source how a kernel is called: its arguments, its sizes and its launch. `new` and `check` share this.

Types come from the signature. The grid, the block, and which argument is which size come from the file's own
``kernel<<<grid, block, shared>>>(arguments)``, with the definitions above it; without one, from the kernel's guard
(``if (i < n)``). What each array holds, only a run tells (check.py).
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from kernelsweep.base.code_hash import cxx_code
from kernelsweep.compile.device_code import KernelHead, kernel_heads
from kernelsweep.compile.emulated import HEADERS
from kernelsweep.errors import UserError, nearest
from kernelsweep.results import MEASUREMENT_COLUMNS, POINT_COLUMNS
from kernelsweep.study.expressions import FUNCTIONS
from kernelsweep.study.kernels.source import included_files, read_source
from kernelsweep.study.problem.problem import CXX_TYPES
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
_QUALIFIERS = re.compile(r"\b(const|volatile|struct|typename|register|__grid_constant__|__restrict(__)?|restrict)\b")
_MADE_OF = {"cudaTextureObject_t": "texture({})", "CUtensorMap": '"tensor_map({}, 64)"'}

# Names of parameters that mean something else in a problem or a study.
_TAKEN = {*keyword.kwlist, *keyword.softkwlist, *FUNCTIONS, *MEASUREMENT_COLUMNS, "np", "math", "cache", "toolkit"}
_TAKEN -= {*POINT_COLUMNS, "width"}
_TAKEN |= {name for names in GIVEN.values() for name in names}

_WORD = re.compile(r"[A-Za-z_]\w*")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][\da-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)[uUlLfF]*"
    r"|(?:std\s*::\s*)?(?P<name>[A-Za-z_]\w*)|(?P<sign><<|>>|[=!<>]=|\S))"
)
_SIGNS = {"+", "-", "*", "/", "%", "<<", ">>", "==", "!=", "<=", ">=", "<", ">"}
_NUMBER = r"(?:unsigned|long|int|size_t|u?int\d+_t|float|double)"
_CAST = re.compile(rf"(?<!sizeof)\(\s*{_NUMBER}(?:\s+{_NUMBER})*\s*\)|\bstatic_cast\s*<[^<>]*>")
_CEIL_DIV = re.compile(r"i?_?((ceil|round_?up)_?div|div_?(ceil|(round_?)?up)|cdiv)\w*", re.IGNORECASE)
_OF_BLOCK = re.compile(r"block_?(size|dim)|threads|^block$", re.IGNORECASE)
_IS_BLOCK = re.compile(r"(b|block_?)dim|block_?size$", re.IGNORECASE)
_LONGEST = 120  # characters of an expression of the host's
_COUNT = re.compile(r"^n$|num|count|len|size|total|elements|^n_|_n$", re.IGNORECASE)
_QUOTED = re.compile(r'^[^\S\n]*#[^\S\n]*include[^\S\n]*"([^"\n]+)"', re.MULTILINE)
_OF_DEVICE = {"threadIdx", "blockIdx", "blockDim", "gridDim"}
# Threads of a block by the number of its sides, where the file doesn't say them.
SIDES_OF_BLOCK = {1: 128, 2: 16, 3: 4}


@dataclass(frozen=True)
class Parameter:
    """A kernel's parameter.

    name      as Python and a study may have it
    text      as the signature has it
    dtype     NumPy's type of its elements; "" where this is no type that could be made
    row       how many of them make one of C++'s, such as 4 of float4
    is_array  whether it is a pointer
    written   whether the kernel may write it
    made      what a study's launch makes of the array, such as texture(image)
    value     of a scalar: an expression over the axes; "" for an array
    """

    name: str
    text: str
    dtype: str
    row: int
    is_array: bool
    written: bool
    made: str = ""
    value: str = ""

    @property
    def is_size(self) -> bool:
        """Whether it is an integer, which may say how large an array is."""
        return not self.is_array and self.row == 1 and "int" in self.dtype


@dataclass(frozen=True)
class Guess:
    """How a kernel is called.

    name        the kernel's
    function    with its namespaces and its template's arguments
    file, line  of its head
    axes        what its sizes and its launch depend on, each with whether it is a size; else a block's side
    grid, block, shared  expressions over the axes; without sides, and empty, where they are not known
    launched    the line of the launch that they come from; "" without one
    template    the values, as an axis has them, of the template's parameters that have no default
    block_parameter  the one that is the block's size; "" without one
    unread      those whose values the file's launch has, in words that can't be read
    """

    name: str
    function: str
    file: Path
    line: int
    parameters: Sequence[Parameter]
    axes: Mapping[str, bool]
    grid: Sequence[str]
    block: Sequence[str]
    shared: str = "0"
    launched: str = ""
    template: Mapping[str, str] = field(default_factory=dict)
    block_parameter: str = ""
    unread: Sequence[str] = ()

    @property
    def sizes(self) -> list[str]:
        """The axes that are sizes."""
        return [name for name, is_size in self.axes.items() if is_size]

    @property
    def arrays(self) -> list[Parameter]:
        """The parameters that are arrays."""
        return [one for one in self.parameters if one.is_array]


def names_of(text: str) -> list[str]:
    """The axes that an expression names."""
    return [
        name for name in dict.fromkeys(_WORD.findall(text)) if name not in FUNCTIONS and not keyword.iskeyword(name)
    ]


def python_name(name: str) -> str:
    """A parameter's name where Python, a problem or a study has no other meaning for it; else with a line behind it."""
    return f"{name}_" if name in _TAKEN else name


def kernels_in(file: Path, include: Sequence[Path] = ()) -> dict[str, tuple[KernelHead, Path]]:
    """The kernels of a file, each with its head and the file that has it; those of its headers where it has none.

    Raises UserError where there are none, and for a file that can't be read.
    """
    for one in (file, *included_files(file, [file.parent, *include])):
        if heads := kernel_heads(read_source(one)):
            return {name: (head, one) for name, head in heads.items()}
    raise UserError(f"{file} has no __global__ at all.")


def missing_headers(file: Path, include: Sequence[Path] = ()) -> list[str]:
    """The headers in quotes that a file, or one that it includes, names and that are nowhere, nor the emulator's."""
    found = [file, *included_files(file, [file.parent, *include])]
    names = {name: one.parent for one in found for name in _QUOTED.findall(read_source(one))}
    folders = [file.parent, *include, HEADERS / "include"]
    return [name for name, own in names.items() if not any((at / name).is_file() for at in (own, *folders))]


def guess(file: Path, kernel: str = "", include: Sequence[Path] = (), launched: bool = True) -> Guess:
    """How a kernel of a file is called; `kernel` is its name, "" for the first.

    launched  whether the file's launches count

    Raises UserError where the file hasn't the kernel, or has none.
    """
    kernels = kernels_in(file, include)
    if kernel and kernel not in kernels:
        raise UserError(
            f"{file} has no kernel {kernel!r}{nearest(kernel, kernels) or '.'} It has {', '.join(kernels)}."
        )
    name = kernel or next(iter(kernels))
    head, own = kernels[name]
    files = [*dict.fromkeys([own, file, *included_files(file, [file.parent, *include])])]
    texts = {one: cxx_code(read_source(one), keep_leading=False) for one in files}
    host = _Host("\n".join(texts.values()))
    launch = next(host.launches(name), None) if launched else None
    template = host.types = _template(head, launch, host)
    parameters = [_parameter(one, place, template, host) for place, one in enumerate(head.parameters)]
    axes: dict[str, bool] = {}
    if launch:
        parameters = host.arguments(launch, parameters)
        try:
            block, grid, shared = _sides_of(launch, template, parameters, host)
        except _Unknown:
            launch = None
    if launch and block:  # Where the host does not tell, a parameter of this name is what the block has.
        parameters = [
            replace(one, value=block[0]) if one.is_size and one.value == one.name and _IS_BLOCK.match(one.name) else one
            for one in parameters
        ]
    for one in parameters:
        if one.is_size:
            axes |= dict.fromkeys(names_of(one.value), True)
    body = host.body(name)
    if launch is None:
        block = _block_of(body, template)
        grid, shared = _guarded_grid(body, block, [one.name for one in parameters if one.is_size]), "0"
        if re.search(r"\bextern\s+__shared__", body):
            shared = ""
    for texts_, is_size in ((block, False), (grid, True)):
        axes |= {name: is_size for text_ in texts_ for name in names_of(text_) if name not in axes}
    if not {*names_of(shared)} <= {*axes}:
        shared = ""
    line = _Host(texts[own]).line_of_kernel(name)
    function = f"{head.function}<{', '.join(template.values())}>" if template else head.function
    at = _line_in(texts, launch.place) if launch else ""
    fixed = [one.partition("=")[0] for one in head.template if "=" not in one]
    needed = {_WORD.findall(one)[-1]: _axis_value(template[_WORD.findall(one)[-1]], host) for one in fixed}
    of_block = next((one for one in needed if _OF_BLOCK.search(one)), "")
    return Guess(name, function, own, line, parameters, axes, grid, block, shared, at, needed, of_block, host.unread)


def _sides_of(
    launch: _Launch, template: Mapping[str, str], parameters: Sequence[Parameter], host: _Host
) -> tuple[list[str], list[str], str]:
    """The block, the grid and the shared bytes of a file's launch. Raises _Unknown."""
    block = host.sides(launch.block, launch.place)
    if threads := _threads(template):  # A template's parameter says what the host's name is worth.
        free = {name for side in block for name in names_of(side)} - {parameter.name for parameter in parameters}
        host.names |= dict.fromkeys(free, threads)
        block = host.sides(launch.block, launch.place)
    grid = host.sides(launch.grid, launch.place)
    known = {name for parameter in parameters if parameter.is_size for name in names_of(parameter.value)}
    of_host = {word for side in grid for word in names_of(side)} - known - {*names_of(" ".join(block))}
    if not all(host.has_value(word, launch.place) for word in of_host):
        raise _Unknown  # Who calls the host's function knows it.
    if any(len(host.assigned(word, launch.place)) > 1 for word in names_of(launch.shared)):
        return block, grid, host.expression("(unknown)", launch.place)  # One of several, by what the host finds.
    return block, grid, host.expression(launch.shared, launch.place) if launch.shared else "0"


def _line_in(texts: Mapping[Path, str], place: int) -> str:
    """The line at a place of texts that stand one after another, with its file where that is not the first."""
    for number, (file, text) in enumerate(texts.items()):
        if place <= len(text):
            line = text.count("\n", 0, place) + 1
            return f"line {line} of {file.name}" if number else f"line {line}"
        place -= len(text) + 1
    return ""


class _Unknown(Exception):
    """Something of the host's that is no expression over sizes."""


@dataclass(frozen=True)
class _Launch:
    place: int
    template: Sequence[str]
    grid: str
    block: str
    shared: str
    arguments: Sequence[str]


@dataclass
class _Host:
    """The text of a file and its headers without comments, in which launches and definitions are looked up.

    names   the study's names of what the host calls otherwise
    types   the types of a template, by its parameters
    unread  the template's parameters whose values in the launch can't be read
    """

    text: str
    names: dict[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def line_of(self, place: int) -> int:
        return self.text.count("\n", 0, place) + 1

    def line_of_kernel(self, kernel: str) -> int:
        return next((self.line_of(found.end()) for found, _ in self._bodies(kernel)), 1)

    def launches(self, kernel: str) -> Iterator[_Launch]:
        for found in re.finditer(rf"\b{kernel}\s*(?:<((?:[^<>;]|<[^<>;]*>)*)>)?\s*<<<", self.text):
            end = self.text.find(">>>", found.end())
            opening = self.text.find("(", end)
            if end < 0 or opening < 0:
                continue
            given = [*_split(self.text[found.end() : end]), "", ""]
            arguments = _split(self.text[opening + 1 : _closing(self.text, opening)])
            yield _Launch(found.start(), _split(found[1] or ""), given[0], given[1], given[2], arguments)

    def arguments(self, launch: _Launch, parameters: Sequence[Parameter]) -> list[Parameter]:
        """The parameters with their values in a launch; a size that the host has a name for keeps the kernel's name."""
        sizes = [(one, text) for one, text in zip(parameters, launch.arguments, strict=False) if one.value == one.name]
        for one, text in sizes:
            text = re.sub(r"\s*(?:\.|->)\s*", ".", _CAST.sub("", text).strip("() "))
            loop = re.findall(rf"\bfor\s*\([^;]*\b{re.escape(text)}\s*=\s*(\d+)\s*;", self.text[: launch.place])
            if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?", text) and not self._has_own_value(text, launch.place):
                self.names.setdefault(text, loop[-1] if loop else one.name)
        values = {}
        for one, text in sizes:
            try:
                value = self.expression(text, launch.place)
            except _Unknown:
                value = one.name
            values[one.name] = one.name if value.isdigit() and int(value) > 4096 else value
        return [replace(one, value=values.get(one.name, one.value)) for one in parameters]

    def assigned(self, name: str, place: int) -> list[str]:
        """The different values that the host's function gives a name before a place."""
        start = self.text.rfind("\n}", 0, place) + 1
        return [*dict.fromkeys(re.findall(rf"\b{name}\s*=(?!=)\s*([^;]+);", self.text[start:place]))]

    def has_value(self, name: str, place: int) -> bool:
        """Whether the host gives a name, or the structure that it is a member of, some value before a place."""
        return bool(self._value(name, place) or re.search(rf"\bdim3\s+{name.rpartition('_')[0]}\b", self.text))

    def _has_own_value(self, name: str, place: int) -> bool:
        """Whether a name's value follows from others, or is a macro's that the device's code has as well."""
        value = self._value(name, place)
        try:
            if value and _WORD.search(self.expression(value, place)):
                return True
        except _Unknown:
            return False
        defined = re.search(rf"^\s*#\s*define\s+{name}\s+\S", self.text, re.MULTILINE)
        return bool(defined) and bool(re.search(rf"__global__[^;{{]*\{{[^<]*\b{name}\b", self.text))

    def sides(self, text: str, place: int) -> list[str]:
        """The sides of a grid or a block."""
        text = text.strip()
        if made := re.fullmatch(r"dim3\s*[({](.*)[)}]|\{(.*)\}", text, re.DOTALL):
            return [self.expression(side, place) for side in _split(made[1] or made[2] or "1")]
        if _WORD.fullmatch(text):
            before = self.text[:place]
            declared = [*re.finditer(rf"\bdim3\b[^;]*?\b{text}\s*[({{]|\b{text}\s*=\s*(?:dim3\s*[({{]|\{{)", before)]
            if declared:
                opening = declared[-1].end() - 1
                inner = self.text[opening + 1 : _closing(self.text, opening)]
                if not (nested := re.fullmatch(r"\s*dim3\s*\((.*)\)\s*", inner, re.DOTALL)):
                    return [self.expression(side, opening) for side in _split(inner) or ["1"]]
                return [self.expression(side, opening) for side in _split(nested[1])]
            members = [re.findall(rf"\b{text}\s*\.\s*{side}\s*=\s*([^;]+);", before) for side in "xyz"]
            if members[0] and re.search(rf"\bdim3\b[^;]*\b{text}\b", before):
                return [self.expression(of[-1], place) if of else "1" for of in members]
            if assigned := re.findall(rf"\bdim3\b[^;=]*\b{text}\s*=\s*([^;]+);", before):
                return self.sides(assigned[-1], place)
        return [self.expression(text, place)]

    def expression(self, text: str, place: int, depth: int = 0) -> str:
        """A host's expression as a study has it; names without a value are axes. Raises _Unknown."""
        if depth > 20:
            raise _Unknown
        is_real = bool(re.search(r"\d\.|\((?:float|double)\)|ceil", text))
        joined = self._translated(_CAST.sub("", text), place, depth, "/" if is_real else "//")
        if not _WORD.search(joined.replace("not", "")):
            try:
                return f"{eval(joined):.0f}"
            except (ArithmeticError, SyntaxError, ValueError, TypeError) as error:
                raise _Unknown from error
        if len(joined) > _LONGEST:  # A name that follows from itself.
            raise _Unknown
        try:
            if "<<" not in joined and ">>" not in joined:
                return ast.unparse(ast.parse(joined, mode="eval"))  # Python's brackets are the fewest.
        except SyntaxError:
            pass
        raise _Unknown

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
                found.append(self._call(word, _split(text[opening + 1 : at - 1]), place, depth))
            elif member:
                at = member.end()
                if text[at:].lstrip().startswith("("):
                    raise _Unknown
                found.append(self._member(word, member[1], place))
            elif kind == "name":
                found.append(self._name(word, place, depth))
            elif word == "!":
                found.append("not ")
            elif word in _SIGNS:
                found.append(division if word == "/" else word)
            else:
                raise _Unknown
        return " ".join(found)

    def _member(self, name: str, member: str, place: int) -> str:
        """A member of a structure: a side of a dim3, or an axis."""
        whole = f"{name}.{member}"
        if whole not in self.names and len(member) == 1 and member in "xyz" and name not in _OF_DEVICE:
            sides = self.sides(name, place)
            if sides != [python_name(name)]:
                return f"({sides['xyz'.index(member)] if 'xyz'.index(member) < len(sides) else 1})"
        return self.names.get(whole, f"{name}_{member}")

    def _name(self, name: str, place: int, depth: int) -> str:
        if name in self.names:
            return self.names[name]
        if name in _OF_DEVICE:
            raise _Unknown
        if value := self._value(name, place):
            with suppress(_Unknown):
                return f"({self.expression(value, place, depth + 1)})"
        enumerated = re.search(rf"\benum\b[^;]*\b{name}\s*=\s*(\d+)", self.text)
        return enumerated[1] if enumerated else python_name(name)

    def _value(self, name: str, place: int) -> str:
        """What the host gives a name before a place, or a macro; "" where that is not known."""
        defined = re.findall(rf"^[^\S\n]*#[^\S\n]*define[^\S\n]+{name}[^\S\n]+(\S[^\n]*)", self.text, re.MULTILINE)
        anywhere = re.findall(rf"\b{name}\s*=(?!=)\s*([^;]+);", self.text[:place])
        assigned = (
            self.assigned(name, place)
            or anywhere
            or re.findall(rf"\bconst\w*\s+\w+\s+{name}\s*=\s*([^;]+);", self.text)
        )
        for value in (*defined[-1:], *assigned[-1:]):
            first = _split(value)[0]
            if not {name, *_OF_DEVICE} & {*_WORD.findall(first)}:
                return first
        return ""

    def _call(self, name: str, arguments: Sequence[str], place: int, depth: int) -> str:
        if name == "sizeof":
            element = _element(self.types.get(arguments[0].strip(), arguments[0]), self)
            if not element:
                raise _Unknown
            return str(_bytes(element[0]) * element[1])
        found = re.search(rf"#\s*define\s+{name}\(([^)]*)\)\s*(\S[^\n]*)", self.text) or re.search(
            rf"\b{name}\s*\(([^()]*)\)\s*\{{\s*return\s+([^;]+);", self.text
        )
        if found:
            names = [_WORD.findall(one)[-1] for one in _split(found[1]) if _WORD.search(one)]
            values = dict(zip(names, (f"({one})" for one in arguments), strict=False))
            body = _WORD.sub(lambda word: values.get(word[0], word[0]), found[2])
            return f"({self.expression(body, place, depth + 1)})"
        values_ = [self.expression(one, place, depth + 1) for one in arguments]
        if _CEIL_DIV.fullmatch(name) and len(values_) == 2:
            return f"(({values_[0]} + {values_[1]} - 1) // ({values_[1]}))"
        name = {"ceilf": "ceil"}.get(name, name)
        if name not in FUNCTIONS:
            raise _Unknown
        return f"{name}({', '.join(values_)})"

    def body(self, kernel: str) -> str:
        """The text of a kernel, from what stands before its name to its last bracket."""
        return next((self.text[found.start() : end] for found, end in self._bodies(kernel)), "")

    def _bodies(self, kernel: str) -> Iterator[tuple[re.Match[str], int]]:
        for found in re.finditer(rf"__global__[^;{{]*?\b{kernel}\s*\(", self.text):
            after = _closing(self.text, found.end() - 1) + 1
            if self.text[after:].lstrip().startswith("{"):
                yield found, _closing(self.text, self.text.index("{", after))


def _threads(template: Mapping[str, str]) -> str:
    """The threads of a block, if a parameter of the template is called so; else ""."""
    named = (value for name, value in template.items() if _OF_BLOCK.search(name))
    return next((value for value in named if value.isdigit()), "")


def _axis_value(value: str, host: _Host) -> str:
    """A template's argument as an axis has it: NumPy's name of a type, and a number."""
    element = _element(value, host)
    return element[0] if element else {"true": "1", "false": "0"}.get(value, value)


def _block_of(body: str, template: Mapping[str, str]) -> list[str]:
    """A block for a kernel that the file doesn't launch; [] where the kernel doesn't ask for the block that it has."""
    if threads := _threads(template):
        return [threads]
    asked = [*re.findall(r"\bthreadIdx\s*\.\s*([xyz])", body), "x"]
    sides = 1 + max("xyz".find(side) for side in asked)
    if not {*asked} <= {*re.findall(r"\bblockDim\s*\.\s*([xyz])", body)}:
        return []
    return [str(SIDES_OF_BLOCK[sides])] * sides


def _guarded_grid(body: str, block: Sequence[str], sizes: Sequence[str]) -> list[str]:
    """The grid that covers the sizes with which a kernel compares its threads' places; [] where none is found."""
    grid: list[str] = []
    for side, threads in zip("xyz", block, strict=False):
        places = re.findall(rf"\b(\w+)\s*=[^;=]*\b(?:threadIdx|blockIdx)\s*\.\s*{side}\b[^;]*;", body)
        bounds = [
            bound
            for place in places
            for bound in map(python_name, re.findall(rf"\b{place}\s*(?:<|>=)\s*(\w+)\b", body))
            if bound in sizes
        ]
        # Without a guard, a thread per element; a stride, or a width, is no number of elements.
        if not bounds and len(block) == 1 and len(sizes) == 1 and _COUNT.search(sizes[0]):
            bounds = list(sizes)
        if not bounds:
            return []
        grid.append(f"({bounds[0]} + {threads} - 1) // {threads}")
    return grid


def _template(head: KernelHead, launch: _Launch | None, host: _Host) -> dict[str, str]:
    """The values of a template's parameters that need one, by name."""
    given = [*(launch.template if launch else ())]
    found = {}
    for place, text in enumerate(head.template):
        kind, _, default = text.partition("=")
        words = [word for word in _WORD.findall(kind) if word != "const"]
        name, is_type = words[-1], words[0] in ("typename", "class")
        value = given[place] if place < len(given) else default.strip()
        if is_type:
            value = value if value and _element(value, host) else "float"
        else:
            try:
                value = host.expression(value, launch.place if launch else len(host.text)) if value else ""
            except _Unknown:
                value = ""
            in_words = re.fullmatch("true|false", given[place]) if place < len(given) else None
            value = in_words[0] if in_words else value if value.isdigit() else "true" if words[0] == "bool" else ""
            is_of_block = bool(re.search("block|thread", name, re.IGNORECASE))
            if not value and not is_of_block and place < len(given):
                host.unread.append(name)
            value = value or ("128" if is_of_block else "32")
        found[name] = value
    return found


def _parameter(text: str, place: int, template: Mapping[str, str], host: _Host) -> Parameter:
    plain = text.partition("=")[0].strip()
    pointed = re.search(r"\(\s*\*\s*(?:\w+\s+)?(\w+)\s*\)", plain)
    declared = re.sub(r"\[[^\]]*\]", "", plain).strip()
    words = _WORD.findall(declared)
    name = pointed[1] if pointed else words[-1] if len(words) > 1 else f"argument_{place}"
    kind = declared.partition("(")[0] if pointed else re.sub(rf"\b{name}\s*$", "", declared)
    is_array = bool(pointed) or "*" in kind or "[" in plain
    made = next((form for word, form in _MADE_OF.items() if word in kind), "")
    kind = _WORD.sub(lambda word: template.get(word[0], word[0]), kind)
    element = _element(kind.replace("*", " "), host) if kind.count("*") + bool(pointed) <= 1 or not is_array else None
    name = python_name(name)
    if not is_array and _is_enumeration(kind, host):
        return Parameter(name, plain, "int32", 1, False, False, "", "0")
    if made:
        return Parameter(name, plain, "float32", 1, True, False, made.format(name))
    dtype, row = element or ("", 1)
    value = "" if is_array else name if "int" in dtype else "1" if dtype == "bool" else "0.5"
    return Parameter(name, plain, dtype, row, is_array, is_array and "const" not in kind.partition("*")[0], "", value)


def _element(text: str, host: _Host, depth: int = 0) -> tuple[str, int] | None:
    """NumPy's type of C++'s, and how many of its elements there are in one; None for a type that is not known."""
    kind = " ".join(_QUALIFIERS.sub(" ", text).replace("&", " ").split()).rpartition("::")[2]
    if kind in _NUMPY:
        return _NUMPY[kind], 1
    if kind in CXX_TYPES:
        return None
    if kind in _ROWS:
        return _ROWS[kind]
    if row := _ROW.fullmatch(kind):
        return _NUMPY[row[1]], int(row[2])
    if depth < 5 and _WORD.fullmatch(kind):
        for form in (
            r"\btypedef\s+([\w\s]+?)\s+{}\s*;",
            r"\busing\s+{}\s*=\s*([\w\s:]+);",
            r"#\s*define\s+{}\s+([\w ]+)",
        ):
            if found := re.search(form.format(kind), host.text):
                return _element(found[1], host, depth + 1)
    return None


def _is_enumeration(kind: str, host: _Host) -> bool:
    """Whether a parameter's type is an enumeration of the file, such as ``mode_t``."""
    name = " ".join(_QUALIFIERS.sub(" ", kind).split()).rpartition("::")[2]
    form = (
        rf"\benum\b(?:\s+class|\s+struct)?\s+{name}\b[^;{{}}]*\{{|\btypedef\s+enum\b[^{{;]*\{{[^{{}}]*\}}\s*{name}\s*;"
    )
    return bool(_WORD.fullmatch(name)) and bool(re.search(form, host.text))


def _bytes(dtype: str) -> int:
    return 1 if dtype == "bool" else 2 if dtype == "bfloat16" else int(re.findall(r"\d+", dtype)[0]) // 8


def _closing(text: str, opening: int) -> int:
    """The place of the bracket that closes the one at `opening`; the text's end where none does."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] in "([{") - (text[place] in ")]}")
        if depth == 0:
            return place
    return len(text)


def _split(text: str) -> list[str]:
    """The parts of a list between commas outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _flat(text: str) -> str:
    """The text with blanks in place of what is in brackets."""
    depth, shown = 0, []
    for character in text:
        depth -= character in ")]}"
        shown.append(character if depth == 0 else " ")
        depth += character in "([{"
    return "".join(shown)
