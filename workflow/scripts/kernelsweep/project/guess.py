"""Guess from a source how a kernel is called: its arguments, its sizes and its launch. `new` and `check` share this.

Types come from the signature. The grid, the block, and which argument is which size come from the file's own
``kernel<<<grid, block, shared>>>(arguments)``, with the definitions above it; without one, from the kernel's guard
(``if (i < n)``). What each array holds, only a run tells (check.py).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from kernelsweep.base.cxx import cxx_code, split_list
from kernelsweep.compile.device_code import KernelHead, kernel_heads, reaches_address
from kernelsweep.compile.emulated import HEADERS
from kernelsweep.errors import UserError, nearest
from kernelsweep.project.host_code import (
    JOINED,
    WORD,
    HostCode,
    Launch,
    Unknown,
    element_of,
    is_enumeration,
    names_of,
    python_name,
)
from kernelsweep.study import expressions
from kernelsweep.study.kernels.source import included_files, read_source

_FLAGS = {"true": "1", "false": "0"}
_MADE_OF = {"cudaTextureObject_t": "texture({})", "CUtensorMap": '"tensor_map({}, 64)"'}

_OF_BLOCK = re.compile(r"block_?(size|dim)|threads|^block$", re.IGNORECASE)
_IS_BLOCK = re.compile(r"(b|block_?)dim|block_?size$", re.IGNORECASE)
_COUNT = re.compile(r"^n$|num|count|len|size|total|elements|^n_|_n$", re.IGNORECASE)
# What allocates an array, whose start the name is then.
_ALLOCATES = r"\bcudaMalloc\w*\s*\((?:\s*\([^()]*\))?\s*&\s*{}\s*,"
_ZEROES = r"\bcudaMemset(?:Async)?\s*\(\s*{}\s*,\s*0\s*,"
_FUNCTION_OBJECT = re.compile(r"[\w:]+\s*(\(\s*\)|\{\s*\})")
_QUOTED = re.compile(r'^[^\S\n]*#[^\S\n]*include[^\S\n]*"([^"\n]+)"', re.MULTILINE)
_NO_TYPE = re.compile(r"\b(const|static|inline|__forceinline__|__noinline__|__host__|__device__|_*restrict_*)\b")
# An element of an array, with what follows; what makes it a target; and what comes before an address or a reference.
_ELEMENT = re.compile(r"\s*\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*(\S{0,3})")
_TARGET = re.compile(r"(?:[-+*/%&|^]|<<|>>)?=(?!=)|\+\+|--|[\[.(]|->")
_ADDRESS = re.compile(r"(?:(?<!&)&|\+\+|--|&\s*\w+\s*=)$")
_CAST_OF = r"(?:reinterpret|static)_cast\s*<([^<>()]*)>\s*\(\s*{0}\b|\(([\w\s:]+?\*[\w\s]*)\)\s*{0}\b"
# A launch that is made up: its blocks on each side, and the bytes of its dynamic shared memory.
_BLOCKS, _SHARED = 3, 48 * 1024
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
    doubt     what of it is a guess on which a finding may hang; "" where nothing is
    within    what the launch passes for an array where that may lie within one; "" for what the file allocates
    zeroed    whether the file sets the array that its launch passes to zero
    indexes   whether the values of an array may be indices
    """

    name: str
    text: str
    dtype: str
    row: int
    is_array: bool
    written: bool
    made: str = ""
    value: str = ""
    doubt: str = ""
    within: str = ""
    zeroed: bool = False
    indexes: bool = False

    @property
    def in_source(self) -> str:
        """Its name in the source: `in` where Python has it as `in_`."""
        return self.name if re.search(rf"\b{self.name}\b", self.text) else self.name.removesuffix("_")

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
    made_up     those of them whose values no launch has, or none that can be read
    block_parameter  the one that is the block's size; "" without one
    unread      those whose values the file's launch has, in words that can't be read
    restrictions  what the host's code asks of the sizes before this launch, as expressions over the axes
    doubts      what of the launch is not known to be so, in words
    guarded     the sizes that the kernel compares with something
    small       sizes that have to be smaller than others: a radius, or what divides others in the grid
    is_slow     whether the sizes have to be smaller than usual, because the kernel takes long
    has_few_blocks  whether it has fewer blocks than the file's launch, because it takes long, or too much memory
    has_own_block  whether the kernel has the block's size, as a number, or a macro or a constant of the file
    cooperative  whether all blocks run together, as cudaLaunchCooperativeKernel starts them
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
    restrictions: Sequence[str] = ()
    doubts: Sequence[str] = ()
    guarded: Collection[str] = ()
    small: Sequence[str] = ()
    is_slow: bool = False
    has_few_blocks: bool = False
    has_own_block: bool = False
    cooperative: bool = False
    made_up: Collection[str] = ()

    @property
    def sizes(self) -> list[str]:
        """The axes that are sizes."""
        return [name for name, is_size in self.axes.items() if is_size]

    @property
    def counts(self) -> list[str]:
        """The sizes that are plain numbers of blocks, such as a batch."""
        divided = {name for side in self.grid if "/" in side for name in names_of(side)}
        return [one for one in self.sizes if one not in divided and one in names_of(" ".join(self.grid))]

    @property
    def arrays(self) -> list[Parameter]:
        """The parameters that are arrays."""
        return [one for one in self.parameters if one.is_array]


def kernels_in(file: Path, include: Sequence[Path] = ()) -> dict[str, tuple[KernelHead, Path]]:
    """The kernels of a file, each with its head and the file that has it; those of its headers where it has none.

    Raises UserError where there are none, and for a file that can't be read.
    """
    heads = {file: kernel_heads(read_source(file))}
    if not heads[file]:
        heads = {one: kernel_heads(read_source(one)) for one in included_files(file, [file.parent, *include])}
    if not any(heads.values()):
        raise UserError(f"{file} has no __global__ at all.")
    return {name: (head, one) for one, of in heads.items() for name, head in of.items()}


def missing_headers(file: Path, include: Sequence[Path] = ()) -> list[str]:
    """The headers in quotes that a file, or one that it includes, names and that are nowhere, nor the emulator's."""
    found = [file, *included_files(file, [file.parent, *include])]
    names = {name: one.parent for one in found for name in _QUOTED.findall(read_source(one))}
    folders = [file.parent, *include, HEADERS / "include", Path("/usr/include")]
    return [name for name, own in names.items() if not any((at / name).is_file() for at in (own, *folders))]


def folders_above(file: Path, include: Sequence[Path] = ()) -> list[Path]:
    """The folders above a file, or called `include` there, that have headers which are missing else."""
    around = [folder for parent in [*file.resolve().parents][:-1] for folder in (parent, parent / "include")]
    folders: list[Path] = []
    while missing := missing_headers(file, [*include, *folders]):
        having = [folder for name in missing for folder in around if (folder / name).is_file()]
        if not having:
            break
        folders.append(having[0])
    return folders


def guess(
    file: Path, kernel: str = "", include: Sequence[Path] = (), launched: bool = True, supposed: bool = False
) -> Guess:
    """How a kernel of a file is called; `kernel` is its name, perhaps with its template's arguments, "" for the first.

    launched  whether the file's launches count
    supposed  whether a launch of a few blocks is made up where neither a launch nor a guard tells the grid

    Raises UserError where the file hasn't the kernel, or has none.
    """
    kernels = kernels_in(file, include)
    kernel, _, arguments = kernel.partition("<")
    if kernel and kernel not in kernels:
        raise UserError(
            f"{file} has no kernel {kernel!r}{nearest(kernel, kernels) or '.'} It has {', '.join(kernels)}."
        )
    name = kernel or next(iter(kernels))
    head, own = kernels[name]
    pairs = zip(head.template, split_list(arguments.strip().removesuffix(">")), strict=False)
    defaults = [f"{kind.partition('=')[0]}= {value}" for kind, value in pairs if value]
    head = head._replace(template=[*defaults, *head.template[len(defaults) :]])
    texts = texts_of(file, own, include)
    found = HostCode("\n".join(texts.values())).launches(name) if launched else ()
    launches = [replace(one, template=() if defaults else one.template) for one in found]
    call, doubts = _best_call(head, launches, texts, supposed)
    axes, template = call.axes, call.host.types
    shared = call.shared if {*names_of(call.shared)} <= {*axes} else ""
    if supposed and call.grid and not shared:
        shared, doubts = str(_SHARED), [*doubts, "its bytes of dynamic shared memory are a guess"]
    fixed = [name for name, one in zip(template, head.template, strict=False) if "=" not in one]
    elements = {one: element_of(template[one], call.host) for one in fixed}  # As an axis has them.
    needed = {one: of[0] if of else _FLAGS.get(template[one], template[one]) for one, of in elements.items()}
    return Guess(
        name,
        f"{head.function}<{', '.join(template.values())}>" if template else head.function,
        own,
        head.line,
        call.parameters,
        axes,
        call.grid,
        call.block,
        shared,
        _line_in(texts, call.place) if call.place else "",
        needed,
        next((one for one in needed if _OF_BLOCK.search(one)), ""),
        call.host.unread,
        [one for one in call.restrictions if {*names_of(one)} <= {*axes}],
        [*doubts, *(f"that its template gets {one} is a guess" for one in call.host.chosen)],
        _guarded(call, head),
        [one for one in axes if axes[one] and re.search(rf"//?\s*{one}\b", " ".join(call.grid))],
        has_own_block=bool(call.own_block & {*re.findall(r"\w+", head.text)}),
        cooperative=bool(call.launch and call.launch.cooperative),
        made_up=call.host.made_up & {*needed},
    )


def texts_of(file: Path, own: Path, include: Sequence[Path] = ()) -> dict[Path, str]:
    """The texts, without comments, of the file that has a kernel, of the given one, and of what that one includes."""
    files = dict.fromkeys([own, file, *included_files(file, [file.parent, *include])])
    return {one: cxx_code(read_source(one), keep_leading=False).replace("\\\n", JOINED) for one in files}


def array_parameter(definition: str, name: str, text: str) -> tuple[Parameter, str]:
    """A variable of the device as an array, and the number of its elements; "" where that can't be read.

    text  the file's
    """
    host = HostCode(text)
    kind = re.sub(r"__\w+__(\s*\(\w+\))?|\b(extern|static|volatile)\b", " ", definition.partition(name)[0])
    sides = re.findall(r"\[([^\]]*)\]", re.split(r"[,;]", definition.partition(name)[2])[0])
    sizes = [""]
    with suppress(Unknown):
        sizes = [host.expression(side, len(text)) for side in sides] or ["1"]
    size = " * ".join(sizes) if all(side.isdigit() for side in sizes) else ""
    return _parameter(f"{kind} {name}[]", 0, host, ""), size


@dataclass(frozen=True)
class _Call:
    """A launch of the host's in a study's words.

    host          with the study's names
    launch        as the text has it; None for a call that is made up
    restrictions  conditions that the host's code sets, as expressions over axes
    unclear       those of the branch of the launch that can't be read
    unknown       names in the grid and the block whose values can't be read: its callers may know them
    """

    host: HostCode
    parameters: Sequence[Parameter]
    grid: Sequence[str]
    block: Sequence[str]
    shared: str = "0"
    launch: Launch | None = None
    restrictions: Sequence[str] = ()
    unclear: Sequence[str] = ()
    unknown: Sequence[str] = ()

    @property
    def place(self) -> int:
        """Where the launch begins in the text; 0 without one."""
        return self.launch.place if self.launch else 0

    @property
    def axes(self) -> dict[str, bool]:
        """What the arguments, the block and the grid depend on, each with whether it is a size."""
        found = _axes_of(self.parameters)
        for sides, is_size in ((self.block, False), (self.grid, True)):
            found |= {name: is_size for side in sides for name in names_of(side) if name not in found}
        return found

    @property
    def own_block(self) -> set[str]:
        """The numbers of the block's sides, and the macro or the constant that the launch names for it."""
        side = self.launch.block.strip() if self.launch and WORD.fullmatch(self.launch.block) else ""
        constant = rf"(?:#[^\S\n]*define|\bconst(?:expr)?\s[^;(){{}}]*?)\s*\b{side}\b"
        return {*self.block, side if side and re.search(constant, self.host.text) else ""}


def _best_call(
    head: KernelHead, launches: Sequence[Launch], texts: Mapping[Path, str], supposed: bool
) -> tuple[_Call, list[str]]:
    """The call of the launch that can be read best, else one that is made up; and what of it is not known, in words."""
    text = "\n".join(texts.values())
    read = [(launch, _call_of(launch, head, text)) for launch in launches]
    read = [(one, call) for one, call in read if not _in_macro(one, text) or (call and not call.host.unread)]
    calls = [call for _, call in read if call]
    if calls:
        best = next((one for one in calls if not one.unclear and not one.host.unread), calls[0])
        of_macro = f"{_line_in(texts, best.place)} launches it in a macro, whose parameters can't be read"
        return best, [*_doubts(best, calls, texts), *[of_macro] * _in_macro(best.launch, text)]
    place = f"{_line_in(texts, launches[0].place)} launches it in a way that can't be read" if launches else ""
    doubts = [f"{place or 'the file does not launch it'}, so that the launch is a guess"]
    return _made_up_call(head, text, read[0][0] if read else None, supposed), doubts


def _in_macro(launch: Launch | None, text: str) -> bool:
    """Whether a launch is in a macro of several lines: it may depend on the macro's parameters."""
    ends = (text.rfind("\n", 0, launch.place), text.find("\n", launch.place)) if launch else ()
    return any(text.startswith(JOINED, end - 1) for end in ends)


def _parameters(head: KernelHead, launch: Launch | None, host: HostCode) -> list[Parameter]:
    host.types = _template(head, launch, host)
    return [_parameter(one, place, host, head.text) for place, one in enumerate(head.parameters)]


def _axes_of(parameters: Sequence[Parameter]) -> dict[str, bool]:
    return {name: True for one in parameters if one.is_size for name in names_of(one.value)}


def _call_of(launch: Launch, head: KernelHead, text: str) -> _Call | None:
    """What a launch says; None where that can't be read, or where its own constants say that it is not made."""
    host = HostCode(text)
    parameters = _parameters(head, launch, host)
    for place, of in enumerate(launch.arguments[: len(parameters)]):
        if parameters[place].is_array:
            within = "" if re.search(_ALLOCATES.format(re.escape(of)), text) else of
            is_zeroed = bool(re.search(_ZEROES.format(re.escape(of)), text))
            parameters[place] = replace(parameters[place], within=within, zeroed=is_zeroed)
        elif _FUNCTION_OBJECT.fullmatch(of):
            parameters[place] = replace(parameters[place], dtype="")
    passed = {one.name: of for one, of in zip(parameters, launch.arguments, strict=False) if one.value == one.name}
    values = host.values_of(launch, passed)
    parameters = [replace(one, value=values.get(one.name, one.value)) for one in parameters]
    try:
        block, grid, shared, unknown = _sides_of(launch, parameters, host)
    except Unknown:
        return None
    # Where the host does not tell, a parameter of this name is what the block has.
    free = {one.name for one in parameters if block and one.is_size and one.value == one.name}
    parameters = [
        replace(one, value=block[0]) if one.name in filter(_IS_BLOCK.match, free) else one for one in parameters
    ]
    known, restrictions, unclear = {*_axes_of(parameters), *names_of(" ".join((*block, *grid)))}, [], []
    for one in host.conditions(launch.place):
        condition = ""
        with suppress(Unknown):
            condition = host.condition(one.text, launch.place)
        if not condition or not {*names_of(condition)} <= known:
            unclear += [one.text if one.holds else f"not {one.text}"] * one.encloses
            continue
        restrictions.append(condition if one.holds else f"not ({condition})")
    if any(not names_of(one) and not expressions.number(one, {}) for one in restrictions):
        return None
    return _Call(host, parameters, grid, block, shared, launch, restrictions, unclear, unknown)


def _made_up_call(head: KernelHead, text: str, unread: Launch | None, supposed: bool) -> _Call:
    """The call that a kernel's guard asks for; else, if supposed, one of a few blocks, else one without sides."""
    host, body = HostCode(text), head.text
    parameters = _parameters(head, None, host)
    block = _block_of(body, host.types)
    grid = _guarded_grid(body, block, [one.name for one in parameters if one.is_size], is_launched=bool(unread))
    if supposed and not grid:
        host = HostCode(text)
        parameters = _parameters(head, unread, host)
        bounds = re.search(r"__launch_bounds__\s*\(([^(),]+)", body)
        block = _block_of(body, host.types)
        of_bounds, of_launch = (
            [(bounds[1], len(text))] if bounds else [],
            [(unread.block, unread.place)] if unread else [],
        )
        for told, place in (*of_bounds, *of_launch):
            with suppress(Unknown):
                sides = host.sides(told, place)
                block = sides if all(side.isdigit() and side != "0" for side in sides) else block
        asked = 1 + max(["xyz".find(side) for side in re.findall(r"\bblockIdx\s*\.\s*([xyz])", body)], default=-1)
        grid = ([str(_BLOCKS)] * asked or ["1"]) if block else []  # learn_arrays finds room for these.
    is_dynamic = re.search(r"\bextern\s+__shared__", text if supposed else body)  # A function may declare it.
    return _Call(host, parameters, grid, block, "" if is_dynamic else "0")


def _guarded(call: _Call, head: KernelHead) -> set[str]:
    """The sizes that the kernel compares with something."""
    own = [(WORD.findall(text.partition("=")[0]) or [""])[-1] for text in head.parameters]
    compared = {name for name in own if re.search(rf"[<>]=?[\s(]*{name}\b|\b{name}[\s)]*[<>](?!>)", head.text)}
    sizes = (one for one, name in zip(call.parameters, own, strict=True) if one.is_size and name in compared)
    return {name for one in sizes for name in names_of(one.value)}


def _sides_of(
    launch: Launch, parameters: Sequence[Parameter], host: HostCode
) -> tuple[list[str], list[str], str, list[str]]:
    """The block, the grid, the shared bytes of a file's launch, and what only callers of its host know.

    Raises Unknown.
    """
    block = host.sides(launch.block, launch.place)
    if threads := _threads(host.types):  # A template's parameter says what the host's name is worth.
        free = {name for side in block for name in names_of(side)} - {parameter.name for parameter in parameters}
        host.names |= dict.fromkeys(free, threads)
        block = host.sides(launch.block, launch.place)
    grid = host.sides(launch.grid, launch.place)
    if "0" in (*block, *grid):
        raise Unknown  # A call with its address gives it a value.
    sizes = _axes_of(parameters)
    known = {*sizes, *names_of(" ".join(block))}
    for side in grid:
        of_host = {*names_of(side)} - known
        if of_host == {*names_of(side)} and not all(host.has_value(word, launch.place) for word in of_host):
            raise Unknown  # Who calls the host's function knows it.
    unknown = [word for word in names_of(" ".join((*grid, *block))) if word not in sizes]
    # One of several, by what the host finds.
    is_open = any(len(host.assigned(word, launch.place)) > 1 for word in names_of(launch.shared))
    shared = host.expression("(unknown)" if is_open else launch.shared or "0", launch.place)
    return block, grid, shared, unknown


def _doubts(call: _Call, calls: Sequence[_Call], texts: Mapping[Path, str]) -> list[str]:
    """What is not known to be so of a call, one of those that the file makes."""
    at = _line_in(texts, call.place)
    told = [f"the host's value of {one} can't be read" for one in call.unknown]
    unlike = {(*one.grid, "", *one.block, "", one.shared): one.place for one in calls}
    if call.unclear and len(unlike) > 1:
        others = ", ".join(_line_in(texts, place) for place in unlike.values() if place != call.place)
        told.append(f"which launch is used, that of {at} or of {others}, depends on what can't be read")
    return told + [f"{at} launches it under `{one}`, which may not hold at these sizes" for one in call.unclear]


def _line_in(texts: Mapping[Path, str], place: int) -> str:
    """The line at a place of texts that stand one after another, with its file where that is not the first."""
    for number, (file, text) in enumerate(texts.items()):
        if place <= len(text):
            line = text.count("\n", 0, place) + 1
            return f"line {line} of {file.name}" if number else f"line {line}"
        place -= len(text) + 1
    return ""


def _threads(template: Mapping[str, str]) -> str:
    """The threads of a block, if a parameter of the template is called so; else ""."""
    named = (value for name, value in template.items() if _OF_BLOCK.search(name))
    return next((value for value in named if value.isdigit()), "")


def _block_of(body: str, template: Mapping[str, str]) -> list[str]:
    """A block for a kernel that the file doesn't launch; [] where the kernel doesn't ask for the block that it has."""
    if threads := _threads(template):
        return [threads]
    asked = [*re.findall(r"\bthreadIdx\s*\.\s*([xyz])", body), "x"]
    sides = 1 + max("xyz".find(side) for side in asked)
    if not {*asked} <= {*re.findall(r"\bblockDim\s*\.\s*([xyz])", body)}:
        return []
    return [str(SIDES_OF_BLOCK[sides])] * sides


def _guarded_grid(body: str, block: Sequence[str], sizes: Sequence[str], is_launched: bool) -> list[str]:
    """The grid that covers the sizes with which a kernel compares its threads' places; [] where none is found."""
    grid: list[str] = []
    for side, threads in zip("xyz", block, strict=False):
        places = re.findall(rf"\b(\w+)\s*=[^;=]*\b(?:threadIdx|blockIdx)\s*\.\s*{side}\b[^;]*;", body)
        bounds = [
            product
            for place in places
            for bound in re.findall(rf"\b{place}\s*(?:<|>=)\s*(\w+(?:\s*\*\s*\w+)*)", body)
            if (product := " * ".join(takewhile(sizes.__contains__, map(python_name, re.split(r"\W+", bound)))))
        ]
        # Without a guard, a thread per element; a stride, or a width, is no number of elements.
        if not bounds and len(block) == 1 and len(sizes) == 1 and _COUNT.search(sizes[0]) and not is_launched:
            bounds = list(sizes)
        if not bounds:
            return []
        grid.append(f"({bounds[0]} + {threads} - 1) // {threads}")
    return grid


def _template(head: KernelHead, launch: Launch | None, host: HostCode) -> dict[str, str]:
    """The values of a template's parameters that need one, by name."""
    given = [*(launch.template if launch else ())]
    found: dict[str, str] = {}
    for place, text in enumerate(head.template):
        kind, _, default = text.partition("=")
        words = [word for word in WORD.findall(kind) if word != "const"]
        name, is_type, other = words[-1], words[0] in ("typename", "class"), ""
        is_given = place < len(given)
        value = given[place] if is_given else default.strip()
        if of_function := host.function_type(kind):
            own = head.function.rpartition("::")[0]
            name, known = of_function[0], _function_of(value, *of_function[1:], found, host, own)
        elif is_type:
            known, other = value if value and element_of(value.rstrip("* "), host) else "", "float"
        else:
            known = value if value in ("true", "false") else ""
            with suppress(Unknown):
                number = host.expression(value, launch.place if launch else len(host.text)) if value else ""
                known = number if number.isdigit() else known
            is_of_block = bool(re.search("block|thread", name, re.IGNORECASE)) and not _in_macro(launch, host.text)
            other = "true" if words[0] == "bool" else "128" if is_of_block else "32"
            if is_given and not known and other == "32":
                host.unread.append(name)
        host.made_up |= set() if is_given and known else {name}
        found[name] = known or other
    return found


def _element_in(body: str, name: str, host: HostCode) -> tuple[str, int] | None:
    """The elements of the type, not bytes, to which a kernel casts a pointer; None for several types, or others."""
    kinds = ["".join(one).replace("*", " ") for one in re.findall(_CAST_OF.format(name), body)]
    elements = {element_of(WORD.sub(lambda word: host.types.get(word[0], word[0]), kind), host) for kind in kinds}
    element = elements.pop() if len(elements) == 1 else None
    return element if element and not element[0].endswith("int8") else None


def _is_only_read(body: str, name: str) -> bool:
    """Whether all that a kernel does with an array is to take elements, and none as a target or a call's argument."""
    cast = rf"\(\s*\([\w\s]+\*\s*\)\s*{name}\s*\)|\b\w+_cast\s*<[^<>]*>\s*\(\s*{name}\s*\)"
    uses = [*re.finditer(rf"(?<![.>])\b{name}\b", re.sub(cast, name, body.partition("{")[2]))]
    for use in uses:
        before, after = use.string[: use.start()].rstrip(), _ELEMENT.match(use.string, use.end())
        is_argument = before[-1:] in "(," and after and after[1][:1] in "),"
        if not after or _TARGET.match(after[1]) or is_argument or _ADDRESS.search(before):
            return False
    return bool(uses)


def _function_of(
    value: str, returned: str, parameters: str, template: Mapping[str, str], host: HostCode, namespace: str
) -> str:
    """A function of the device for a template's parameter: the one that a launch names, else the first of its type.

    namespace  the kernel's, in which that one is looked for
    """

    def kinds(text: str) -> list[str]:
        plain = [WORD.sub(lambda word: template.get(word[0], word[0]), one) for one in split_list(text)]
        return ["".join(WORD.findall(_NO_TYPE.sub(" ", one))[:1]) + "*" * one.count("*") for one in plain]

    functions = {
        found[2]: (found[1], found[3])
        for found in re.finditer(r"__device__\s([^;{}()]*?)\b(\w+)\s*\(([^(){};]*)\)\s*\{", host.text)
    }
    if value.rpartition("::")[2] in functions:
        return value
    asked = kinds(f"{returned}, {parameters}")
    for name, (kind, text) in functions.items():
        own = kinds(f"{kind}, {text}")
        if len(own) == len(asked) and all(of in (one, "T") for of, one in zip(own, asked, strict=True)):
            host.chosen.append(name)
            return f"{namespace}::{name}" if namespace else name
    return value


def _parameter(text: str, place: int, host: HostCode, body: str) -> Parameter:
    plain = text.partition("=")[0].strip()
    pointed = re.search(r"\(\s*\*\s*(?:\w+\s+)?(\w+)\s*\)", plain)
    declared = re.sub(r"\[[^\]]*\]", "", plain).strip()
    words = WORD.findall(declared)
    name = pointed[1] if pointed else words[-1] if len(words) > 1 else f"argument_{place}"
    kind = declared.partition("(")[0] if pointed else re.sub(rf"\b{name}\s*$", "", declared)
    made = next((form for word, form in _MADE_OF.items() if word in kind), "")
    kind = WORD.sub(lambda word: host.types.get(word[0], word[0]), kind)
    is_array = bool(pointed) or "*" in kind or "[" in plain
    element = element_of(kind.replace("*", " "), host) if kind.count("*") + bool(pointed) <= 1 or not is_array else None
    doubt = ""
    if is_array and {*WORD.findall(_NO_TYPE.sub(" ", kind))} == {"void"}:
        element = _element_in(body, name, host)
        if not element and kind.count("*") == 1:
            element, doubt = ("uint8", 1), f"`{plain}` is taken for bytes, of any values"
    may_index, is_only_read = is_array and reaches_address(body, name), _is_only_read(body, name)
    name = python_name(name)
    if not is_array and is_enumeration(kind, host):
        return Parameter(name, plain, "int32", 1, False, False, "", "0")
    if made:
        return Parameter(name, plain, "float32", 1, True, False, made.format(name))
    dtype, row = element or ("", 1)
    value = "" if is_array else name if "int" in dtype else "1" if dtype == "bool" else "0.5"
    is_written = is_array and "const" not in kind.partition("*")[0] and not is_only_read
    return Parameter(
        name, plain, dtype, row, is_array, is_written, "", value, doubt, indexes=may_index or "int" in dtype
    )
