"""Compile a translation unit with nvcc to a cubin, and read each variant's resources from the compiler's output."""

from __future__ import annotations

import hashlib
import itertools
import re
import struct
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import Section, SymbolTableSection

from kernelsweep.base.compilers import run_compiler
from kernelsweep.base.cxx import split_list
from kernelsweep.compile.binaries import CONSTANT_MEMORY, variables
from kernelsweep.compile.toolkit import DEFAULT_TOOLKIT, not_found, tool_paths
from kernelsweep.errors import BuildError

_LANGUAGE = [
    "-std=c++17",
    "--expt-relaxed-constexpr",  # std::numeric_limits in a kernel, without a warning
    "-lineinfo",  # source lines for the sanitizer and the profiler; the machine code stays the same
]

_ARCHITECTURE = ("-arch", "--gpu-architecture", "-gencode", "--generate-code")

# NVIDIA's packages on PyPI that make an nvcc: itself, what it includes, and its optimizer.
_PACKAGES = ("nvidia-cuda-nvcc", "nvidia-cuda-crt", "nvidia-nvvm", "nvidia-cuda-runtime")

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_NO_RESOURCES = {"shared_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}
# Sections that are no part of a function's code: places of lines in the source, which move with comments; tables of
# symbols, whose entries stand by name where they matter; the command line, of which the code has what follows from it;
# and calls, which the code itself has.
_NO_CODE = (
    *(f"{kind}{name}" for kind in ("", ".rela", ".rel") for name in (".debug_", ".nv_debug_")),
    *(".symtab", ".strtab", ".shstrtab", ".note.nv.tkinfo", ".nv.callgraph", ".nv.prototype"),
)
# The section with attributes of all functions, and the prefix of the sections with one function's attributes.
_OF_ALL = ".nv.info"
_OF_ONE = ".nv.info."
# The form of an attribute whose value has a length of its own, and the number of a parameter's.
_WITH_LENGTH = 4
_PARAMETER = 0x17
_REGISTERS = 0x2F
# What a cubin counts to each function's shared memory from sm_90 on, and ptxas doesn't.
_RESERVED_SHARED = 1024
# Attributes whose value begins with the index of a symbol: a function's registers, frame, smallest and largest stack,
# and the constant bank of its parameters.
_WITH_SYMBOL = frozenset({0x2F, 0x11, 0x12, 0x23, 0x0A})
# Lines that say nothing of the source.
_REPORT = re.compile(r"^(ptxas info|\s+\d+ bytes stack frame|Function properties|\d+ errors? detected in)")


def find(release: str = "") -> str:
    """The path of nvcc; of a toolkit's release, such as 13.0, where one is named. Raises BuildError without it."""
    found = tool_paths("nvcc", release=release)
    if not found:
        raise BuildError(
            f"{not_found('nvcc')}: install the CUDA toolkit, or run without a GPU by --config platform=emulator"
        )
    fitting = [path for path in found if not release or f"{_version(path)}.".startswith(f"nvcc {release}.")]
    if not fitting:
        raise BuildError(
            f"there is no nvcc {release}, but {', '.join(sorted({_version(path) for path in found}))}: install that "
            f"toolkit in {DEFAULT_TOOLKIT}-{release}, or from 13.0 on its packages by pip install --target "
            f"toolkits/{release} {' '.join(f'{package}=={release}.*' for package in _PACKAGES)}"
        )
    return fitting[0]


def version(release: str = "") -> str:
    """The compiler's release, such as "nvcc 13.0.88"; of a toolkit's, as find(). Raises BuildError."""
    return _version(find(release))


@cache
def _version(path: str) -> str:
    text = run_compiler([path, "--version"], is_ours=True).stdout
    match = re.search(r"V([\d.]+)", text)
    return f"nvcc {match[1]}" if match else text.strip()


def compile_cubin(
    unit: Path,
    cubin: Path,
    arch: str,
    include: Sequence[Path],
    options: Sequence[str] = (),
    toolkit: str = "",
) -> str:
    """Compile `unit` for one architecture (sm_90, or native) and return the compilers' output.

    options  further options; one that names an architecture replaces `arch`
    toolkit  the release of the toolkit whose nvcc compiles it; empty for the usual one

    Raises BuildError with nvcc's message if it refuses the unit, and where there is no such toolkit.
    """
    return _compiled(["-cubin", "-Xptxas=-v", *options], unit, cubin, arch, include, toolkit)


def preprocess(unit: Path, output: Path, arch: str, include: Sequence[Path], options: Sequence[str] = ()) -> str:
    """What nvcc's preprocessor makes of `unit`, for the device, written to `output` first. Raises BuildError."""
    _compiled(["-E", *options], unit, output, arch, include)
    return output.read_text(encoding="utf-8", errors="replace")


def compile_library(source: Path, library: Path, arch: str, options: Sequence[str] = ()) -> None:
    """Compile host functions, with the kernels that they launch, to a shared library for one architecture.

    Raises BuildError with nvcc's message if it refuses the source.
    """
    libraries = Path(find()).resolve().parents[1] / "lib"  # NVIDIA's packages have no lib64
    _compiled(["-O3", "-shared", "-Xcompiler=-fPIC", f"-L{libraries}", *options], source, library, arch, [])


def _compiled(
    options: Sequence[str], source: Path, output: Path, arch: str, include: Sequence[str | Path], toolkit: str = ""
) -> str:
    """Compile a source; what the compilers print. Raises BuildError."""
    folders = [f"-I{folder}" for folder in include]
    of_arch = [] if any(option.startswith(_ARCHITECTURE) for option in options) else [f"-arch={arch}"]
    run = run_compiler([find(toolkit), *_LANGUAGE, *of_arch, *folders, *options, "-o", str(output), str(source)])
    printed = run.stderr + run.stdout
    if run.returncode != 0:
        message = "\n".join(line for line in printed.splitlines() if not _REPORT.match(line))
        raise BuildError(f"nvcc refused the source:\n{message.strip()}")
    return printed


def warnings(output: str) -> str:
    """The compilers' output without the resource report: warnings, if any."""
    return "\n".join(line for line in output.splitlines() if line.strip() and not _REPORT.match(line))


def function_reports(output: str, cubin: Path, functions: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The resources of functions by their C++ names, such as ``unrolled<int, Sum, 2u>``.

    Keys of a report: symbol (the mangled name), registers (a thread), shared_bytes (static, a block),
    spill_store_bytes, spill_load_bytes (a thread), parameter_types (as in platforms.platform.Platform), constant_bytes
    (of each variable in constant memory, by name), binary_sha256 (of this function's machine code only, so that it is
    independent of the others). Raises BuildError for a function that the cubin doesn't have.
    """
    reports = symbol_reports(printed_resources(output), cubin)
    by_name = {}
    for symbol, spelled in zip(reports, demangled([*reports]), strict=True):
        name, types = name_and_types(spelled.removeprefix("void "))  # An extern "C" symbol tells no types.
        known = itertools.zip_longest(types, reports[symbol]["parameter_types"])
        reports[symbol]["parameter_types"] = [
            f"{_kind(kind)}{size[1:]}{_pointed(kind)}" for kind, size in known if size is not None
        ]
        by_name[plain_name(name)] = reports[symbol]
    return {function: _of_function(function, by_name) for function in functions}


def printed_resources(output: str) -> dict[str, dict[str, Any]]:
    """What ptxas has printed of functions, by symbol: registers, static shared memory and spills."""
    resources: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] = {}
    for line in output.splitlines():
        if entry := _ENTRY.search(line):
            current = resources[entry[1]] = {**_NO_RESOURCES}
        elif spills := _SPILLS.search(line):
            # One line for the kernel, and one for each function that it calls and that was not inlined.
            current["spill_store_bytes"] += int(spills[2])
            current["spill_load_bytes"] += int(spills[3])
        elif used := _USED.search(line):
            current["registers"] = int(used[1])
            if shared := _SHARED.search(line):
                current["shared_bytes"] = int(shared[1])
    return resources


def symbol_reports(resources: Mapping[str, Mapping[str, Any]], cubin: Path) -> dict[str, dict[str, Any]]:
    """As function_reports(), by symbol, of parameters without the types that a C++ name tells.

    resources  as of printed_resources() or resources_in()
    """
    reports = {symbol: {"symbol": symbol, **found} for symbol, found in resources.items()}
    with cubin.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        sizes = _parameter_bytes(elf)
        # C++ doesn't mangle a global variable's name.
        constants = {one.name: int(one["st_size"]) for one, of in variables(elf) if of.name == CONSTANT_MEMORY}
        for symbol, digest in _code_hashes(elf, table, reports).items():
            types = [f"?{size}" for size in sizes.get(symbol, [])]
            reports[symbol] |= {"constant_bytes": constants, "binary_sha256": digest, "parameter_types": types}
    return reports


def resources_in(cubin: Path, symbol: str) -> dict[str, dict[str, Any]]:
    """As printed_resources(), of a cubin's function, which someone else has compiled; empty without it."""
    with cubin.open("rb") as file:
        elf = ELFFile(file)
        table, info = elf.get_section_by_name(".symtab"), elf.get_section_by_name(_OF_ALL)
        if elf.get_section_by_name(f".text.{symbol}") is None or info is None:
            return {}
        assert isinstance(table, SymbolTableSection)
        counts = [struct.unpack("<II", value) for number, value in _attributes(info.data()) if number == _REGISTERS]
        registers = next((count for index, count in counts if table.get_symbol(index).name == symbol), 0)
        shared = elf.get_section_by_name(f".nv.shared.{symbol}")
        reserved = _RESERVED_SHARED if elf.get_section_by_name(".nv.shared.reserved.0") else 0
        shared_bytes = max(shared["sh_size"] - reserved, 0) if shared else 0
    return {symbol: {**_NO_RESOURCES, "shared_bytes": shared_bytes, "registers": registers}}


def _of_function(function: str, by_name: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The report on a function, which may have template arguments by default that its name leaves out.

    nvcc names an enumerator by its number, and a function with its type. Such arguments fit any, if one instance alone
    does, or if one alone has the function's name.
    """
    name = plain_name(function)
    head, arguments = name.partition("<")[0], _arguments(name)
    longer = [found for found in by_name if found.startswith(name.removesuffix(">") + ("," if ">" in name else "<"))]
    pairs = {
        found: [*zip(arguments, given, strict=True)]
        for found in by_name
        if found.partition("<")[0] == head and len(given := _arguments(found)) == len(arguments)
    }
    alike = [found for found in pairs if all(own == one or _TOLD_OTHERWISE.match(one) for own, one in pairs[found])]
    named = [found for found in alike if all(one[0] != "&" or own in one for own, one in pairs[found])]
    for found in [name, *(one for each in (longer, alike, named) if len(each) == 1 for one in each)]:
        if found in by_name:
            return by_name[found]
    numbers = " Write an enumerator as its number, as in (order)0." if alike else ""
    raise BuildError(f"nvcc compiled no kernel {function}; it compiled {', '.join(by_name) or 'none'}.{numbers}")


# A template argument of nvcc's: (order)0 of an enumeration, &(float act<float>(float)) of a function.
_TOLD_OTHERWISE = re.compile(r"\([\w:]+\)-?\d+$|&")


def _arguments(name: str) -> list[str]:
    """The template arguments in a name; none without <."""
    return split_list(name.partition("<")[2].rpartition(">")[0], "<>()")


def plain_name(name: str) -> str:
    """A function's C++ name without what spellings differ in.

    That is spaces, suffixes and casts of numbers, true and false, `unsigned int`, `half`, and namespaces without names.
    """
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"\b(half2?|nv_bfloat162?)\b", r"__\1", name)
    name = re.sub(r"\((?:unsigned |signed )?(?:bool|char|short|int|long|long long)\)(?=-?\d)", "", name)
    name = re.sub(r"\b(?:false|true)\b", lambda word: str(int(word[0] == "true")), name)
    name = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", name)
    name = re.sub(r"\bunsigned(?! (?:int|char|short|long))\b", "unsigned int", name)
    return re.sub(r"\s*([<>,*&])\s*", r"\1", name).strip()


def _parameter_bytes(elf: ELFFile) -> dict[str, list[int]]:
    """The size of each parameter of the cubin's functions, by symbol.

    They stand in the section .nv.info.<symbol>, in attributes 0x17 (EIATTR_KPARAM_INFO): 12 bytes with the parameter's
    index, its place and offset, and a word whose upper 14 bits are its size.
    """
    found: dict[str, list[int]] = {}
    for section in elf.iter_sections():
        if section.name.startswith(_OF_ONE):
            parameters = [value for number, value in _attributes(section.data()) if number == _PARAMETER]
            sizes = {place: word >> 18 for _, place, _, word in (struct.unpack("<IHHI", one) for one in parameters)}
            found[section.name.removeprefix(_OF_ONE)] = [sizes[place] for place in sorted(sizes)]
    return found


def _attributes(section: bytes) -> Iterator[tuple[int, bytes]]:
    """The number and the value of each attribute in a section .nv.info.

    An attribute has four bytes: its form, its number and two more, which are the length of the value that follows them
    in form 4, and the value itself in other forms.
    """
    offset = 0
    while offset < len(section):
        form, number, length = struct.unpack_from("<BBH", section, offset)
        start, offset = (offset + 4, offset + 4 + length) if form == _WITH_LENGTH else (offset + 2, offset + 4)
        yield number, section[start:offset]


def _code_hashes(elf: ELFFile, table: SymbolTableSection, symbols: Iterable[str]) -> dict[str, str]:
    """SHA-256 of each symbol's machine code with its launch attributes and the variables of its unit.

    That is everything in the cubin, less what belongs to another kernel, and less _NO_CODE. Other kernels of the unit
    move a symbol's index, so that names stand for indices.
    """
    digests = {symbol: hashlib.sha256() for symbol in symbols}
    for section in sorted(elf.iter_sections(), key=lambda section: section.name):
        if section.name.startswith(_NO_CODE) or section.is_null():
            continue
        owner = next((symbol for symbol in digests if section.name.endswith(f".{symbol}")), None)
        for symbol in [owner] if owner else digests:
            content = _content_for(symbol, section, table)
            digests[symbol].update(f"{section.name} {len(content)} ".encode() + content)
    return {symbol: digest.hexdigest() for symbol, digest in digests.items()}


def _content_for(symbol: str, section: Section, table: SymbolTableSection) -> bytes:
    """What a section says of a symbol, with names in place of the indices of symbols."""
    if section.name.startswith(_OF_ALL):
        found = []
        for number, value in _attributes(section.data()):
            name = ""
            if number in _WITH_SYMBOL:
                name, value = table.get_symbol(struct.unpack_from("<I", value)[0]).name, value[4:]
            if section.name != _OF_ALL or name in ("", symbol):
                found.append((number, name, value))
        return repr(found).encode()
    if isinstance(section, RelocationSection):
        entries = ((entry, table.get_symbol(entry["r_info_sym"])) for entry in section.iter_relocations())
        places = [
            (entry["r_offset"], entry["r_info_type"], entry["r_addend"], target.name, target["st_value"])
            for entry, target in entries
        ]
        return repr(places).encode()
    data: bytes = section.data()
    return data


def demangled(symbols: Sequence[str]) -> list[str]:
    """Symbols as C++ spells them."""
    run = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, encoding="utf-8", check=True)
    return run.stdout.splitlines()


def name_and_types(text: str) -> tuple[str, list[str]]:
    """``f<(Op)1>(int, float*)`` as ``f<(Op)1>`` and its types."""
    depth = 0
    for place in range(len(text) - 1, -1, -1) if text.endswith(")") else ():
        depth += (text[place] in ")>]") - (text[place] in "(<[")
        if depth == 0:
            return text[:place], split_list(text[place + 1 : -1], "()<>[]")
    return text, []


_KINDS = {"float": "f", "double": "f", "__half": "f", "__nv_bfloat16": "b", "bool": "u"}
_KINDS |= dict.fromkeys(("char", "short", "int", "long", "long long"), "i")
# The bytes of numbers, without bytes, behind which a pointer may have anything.
_BYTES = {"short": 2, "__half": 2, "__nv_bfloat16": 2, "int": 4, "float": 4, "long": 8, "long long": 8, "double": 8}


def _pointed(cxx: str | None) -> str:
    """What a parameter points at, with a space in front; "" where it points at no numbers."""
    number = re.sub(r" (const|volatile)\b", "", (cxx or "").removesuffix("*")) if (cxx or "").endswith("*") else ""
    size = _BYTES.get(number.removeprefix("unsigned "))
    return f" {_kind(number)}{size}" if size else ""


def _kind(cxx: str | None) -> str:
    """A parameter's kind by its C++ type, as in platforms.platform.Platform."""
    if cxx and (cxx.endswith("*") or cxx.startswith("unsigned ")):
        return "p" if cxx.endswith("*") else "u"
    return _KINDS.get((cxx or "").removeprefix("signed "), "?")
