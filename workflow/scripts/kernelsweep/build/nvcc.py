"""Compile a translation unit with nvcc to a cubin, and read each variant's resources from the compiler's output."""

from __future__ import annotations

import hashlib
import re
import struct
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kernelsweep.build.toolkit import find_tool, not_found
from kernelsweep.errors import BuildError

_LANGUAGE = [
    "-std=c++17",
    "--expt-relaxed-constexpr",  # std::numeric_limits in a kernel, without a warning
    "-lineinfo",  # source lines for the sanitizer and the profiler; the machine code stays the same
]

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_CONSTANT_MEMORY = ".nv.constant3"
_VARIABLES = (_CONSTANT_MEMORY, ".nv.global.init")
# The section of a function's attributes, the form of an attribute with bytes of its own, and a parameter's attribute.
_INFO = ".nv.info."
_WITH_BYTES = 4
_PARAMETER = 0x17
_REPORT = re.compile(r"^(ptxas info|\s+\d+ bytes stack frame|Function properties)")


def find() -> str:
    """The path of nvcc. Raises BuildError if it is not installed."""
    if nvcc := find_tool("nvcc"):
        return nvcc
    raise BuildError(
        f"{not_found('nvcc')}: install the CUDA toolkit, or run without a GPU by --config platform=emulator"
    )


def version() -> str:
    """The compiler's release, such as "nvcc 13.0.88"."""
    text = subprocess.run([find(), "--version"], capture_output=True, encoding="utf-8", check=True).stdout
    match = re.search(r"V([\d.]+)", text)
    return f"nvcc {match[1]}" if match else text.strip()


def compile_cubin(
    unit: Path,
    cubin: Path,
    arch: str,
    include: Sequence[Path],
    macros: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
) -> str:
    """Compile `unit` for one architecture (sm_90, or native) and return the compilers' output.

    macros   values by macro
    options  further options

    Raises BuildError with nvcc's message if it refuses the unit.
    """
    given = _given(arch, include, macros or {}, options)
    command = [find(), "-cubin", "-Xptxas=-v", *given, "-o", str(cubin), str(unit)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    output = run.stderr + run.stdout
    if run.returncode != 0:
        message = "\n".join(line for line in output.splitlines() if not _REPORT.match(line))
        raise BuildError(f"nvcc refused the kernel:\n{message.strip()}")
    return output


def preprocessed(
    unit: Path, arch: str, include: Sequence[Path], macros: Mapping[str, str], options: Sequence[str]
) -> str:
    """What is left of a unit once its macros are replaced, with the places of other files' lines.

    Takes as compile_cubin() does; "" where the preprocessor refuses the unit, which compile_cubin() then explains.
    """
    command = [find(), "-E", *_given(arch, include, macros, options), str(unit)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    lines = run.stdout.splitlines() if run.returncode == 0 else []
    return "\n".join(line for line in lines if not (line.startswith("# ") and str(unit) in line))


def _given(arch: str, include: Sequence[Path], macros: Mapping[str, str], options: Sequence[str]) -> list[str]:
    """What a unit's code follows from, besides its text."""
    folders = [f"-I{folder}" for folder in include]
    return [*_LANGUAGE, f"-arch={arch}", *options, *folders, *(f"-D{name}={value}" for name, value in macros.items())]


def compile_library(source: Path, library: Path, arch: str, include: Sequence[Path] = ()) -> None:
    """Compile host functions, with the kernels that they launch, to a shared library for one architecture.

    include  folders of headers that come before the toolkit's
    Raises BuildError with nvcc's message if it refuses the source.
    """
    command = [
        find(),
        *_LANGUAGE,
        "-O3",
        f"-arch={arch}",
        "-shared",
        "-Xcompiler=-fPIC",
        *(f"-I{folder}" for folder in include),
        "-o",
        str(library),
        str(source),
    ]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if run.returncode != 0:
        raise BuildError(f"nvcc refused {source.name}:\n{(run.stderr + run.stdout).strip()}")


def warnings(output: str) -> str:
    """The compilers' output without the resource report: warnings, if any."""
    return "\n".join(line for line in output.splitlines() if line.strip() and not _REPORT.match(line))


def function_reports(output: str, cubin: Path, functions: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The resources of functions by their C++ names, such as ``unrolled<int, Sum, 2u>``.

    Keys of a report: symbol (the mangled name), registers (a thread), shared_bytes (static, a block),
    spill_store_bytes, spill_load_bytes (a thread), parameter_bytes (of each parameter), constant_bytes (of each
    variable in constant memory, by name), binary_sha256 (of this function's machine code only, so that it is
    independent of the others). Raises BuildError for a function that the cubin doesn't have.
    """
    reports: dict[str, dict[str, Any]] = {}
    current: dict[str, Any] = {}
    for line in output.splitlines():
        if entry := _ENTRY.search(line):
            current = {"symbol": entry[1], "shared_bytes": 0, "spill_store_bytes": 0, "spill_load_bytes": 0}
            reports[entry[1]] = current
        elif spills := _SPILLS.search(line):
            # One line for the kernel, and one for each function that it calls and that was not inlined.
            current["spill_store_bytes"] += int(spills[2])
            current["spill_load_bytes"] += int(spills[3])
        elif used := _USED.search(line):
            current["registers"] = int(used[1])
            if shared := _SHARED.search(line):
                current["shared_bytes"] = int(shared[1])
    for symbol, digest in _code_hashes(cubin, reports).items():
        reports[symbol]["binary_sha256"] = digest
    sizes = _parameter_bytes(cubin)
    constants = _constant_bytes(cubin)
    for symbol, entry_report in reports.items():
        entry_report |= {"parameter_bytes": sizes.get(symbol, []), "constant_bytes": constants}
    by_name = dict(zip(map(_plain, _demangled(list(reports))), reports.values(), strict=True))
    return {function: _of_function(function, by_name) for function in functions}


def _of_function(function: str, by_name: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
    """The report on a function, which may have template arguments by default that its name leaves out."""
    name = _plain(function)
    longer = [found for found in by_name if found.startswith(name.removesuffix(">") + ("," if ">" in name else "<"))]
    for found in [name, *(longer if len(longer) == 1 else [])]:
        if found in by_name:
            return by_name[found]
    raise BuildError(f"nvcc compiled no kernel {function}; it compiled {', '.join(by_name) or 'none'}")


def _plain(name: str) -> str:
    """A function's C++ name without what spellings differ in: spaces, suffixes and casts of numbers, `unsigned int`."""
    name = re.sub(r"\((?:unsigned |signed )?(?:char|short|int|long|long long)\)(?=-?\d)", "", name)
    name = re.sub(r"\b(\d+)[uUlL]+\b", r"\1", name)
    name = re.sub(r"\bunsigned(?! (?:int|char|short|long))\b", "unsigned int", name)
    return re.sub(r"\s*([<>,*&])\s*", r"\1", name).strip()


def _parameter_bytes(cubin: Path) -> dict[str, list[int]]:
    """The size of each parameter of the cubin's functions, by symbol.

    They stand in the section .nv.info.<symbol>, in attributes 0x17 (EIATTR_KPARAM_INFO): 12 bytes with the parameter's
    index, its place and offset, and a word whose upper 14 bits are its size.
    """
    found: dict[str, list[int]] = {}
    with cubin.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if section.name.startswith(_INFO):
                found[section.name.removeprefix(_INFO)] = _sizes_in(section.data())
    return found


def _sizes_in(attributes: bytes) -> list[int]:
    sizes: dict[int, int] = {}
    offset = 0
    while offset < len(attributes):
        form, attribute, length = struct.unpack_from("<BBH", attributes, offset)
        offset += 4
        if form != _WITH_BYTES:
            continue  # The last two bytes are the attribute's value.
        if attribute == _PARAMETER:
            _, place, _, word = struct.unpack_from("<IHHI", attributes, offset)
            sizes[place] = word >> 18
        offset += length
    return [sizes[place] for place in sorted(sizes)]


def _constant_bytes(cubin: Path) -> dict[str, int]:
    """The size of each variable in constant memory, by symbol: C++ doesn't mangle a global variable's name."""
    with cubin.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        place = elf.get_section_index(_CONSTANT_MEMORY)
        return {
            symbol.name: int(symbol["st_size"])
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == "STT_OBJECT" and symbol["st_shndx"] == place
        }


def _code_hashes(cubin: Path, symbols: Iterable[str]) -> dict[str, str]:
    """SHA-256 of each symbol's ELF sections (code, parameters, shared memory) and of the common ones (initial values of
    __constant__ and __device__ variables).
    """
    digests = {symbol: hashlib.sha256() for symbol in symbols}
    with cubin.open("rb") as file:
        sections = {section.name: section.data() for section in ELFFile(file).iter_sections()}
    for name, data in sorted(sections.items()):
        symbol = next((symbol for symbol in digests if name.endswith(f".{symbol}")), None)
        if symbol and name.startswith((".text.", ".nv.constant", ".nv.shared.")):
            digests[symbol].update(name.encode() + data)
        elif name in _VARIABLES:
            for digest in digests.values():
                digest.update(name.encode() + data)
    return {symbol: digest.hexdigest() for symbol, digest in digests.items()}


def _demangled(symbols: Sequence[str]) -> list[str]:
    """Function names as C++ spells them, without return type and parameters."""
    filtered = subprocess.run(
        ["c++filt", *symbols], capture_output=True, encoding="utf-8", check=True
    ).stdout.splitlines()
    return [re.sub(r"^void |\(.*$", "", name) for name in filtered]
