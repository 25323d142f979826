"""Compile a translation unit with g++ to a shared library that the emulator runs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from kernelsweep.build.device_code import constant_names
from kernelsweep.build.untrusted import check_object
from kernelsweep.compilers import gxx, run_compiler
from kernelsweep.errors import BuildError
from kernelsweep.home import HOME
from kernelsweep.reasons import Reason
from kernelsweep.sandbox import is_untrusted
from kernelsweep.sweep.kernels.source import included_files, read_source

_LANGUAGE = [
    "-std=c++17",
    # A kernel's points run for a fraction of a second: -O2 makes them 10% faster, and the build 50% longer.
    "-O1",
    "-fPIC",
    # Kernels written for nvcc rely on wrapping signed overflow, and on reading memory as another type.
    "-fwrapv",
    "-fno-strict-aliasing",
    # A product and a sum are rounded separately on every processor.
    "-ffp-contract=off",
    "-fno-exceptions",
]
_RUNTIME = [
    # Variables of one name in two libraries of a process stay separate.
    "-fvisibility=hidden",
    "-fno-gnu-unique",
    # A large stack frame touches each of its pages, so that it hits the guard page below the stack.
    "-fstack-clash-protection",
    # The emulator switches stacks, which shadow stacks and a checked longjmp forbid.
    "-fcf-protection=none",
    "-U_FORTIFY_SOURCE",
    # `extern __shared__` declares plain memory without constructors.
    "-fno-extern-tls-init",
]
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wno-sign-compare",  # nvcc does not warn of it either
    "-Wno-unknown-pragmas",  # `#pragma unroll` is nvcc's
    "-fdiagnostics-color=never",
]
# A hook is called before each memory access; the sanitizer's own library is not linked. This needs -O1, because -O2
# duplicates accesses of the source in the code, so that the lanes of a warp are at different ones. -g1 gives the
# accesses' lines.
_WATCHING = [
    "-fsanitize=thread",
    # Indices of arrays, also of those that a thread has to itself.
    "-fsanitize=bounds-strict",
    "-fno-tree-sra",
    # Else g++ writes some of them out, as accesses that no hook sees.
    *("-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"),
    # The hooks are called for what these leave of the source. They remove accesses of which nothing depends, move them
    # into branches, and take a static variable that is never written for zeros: a GPU's shared memory is not.
    *("-fno-tree-dce", "-fno-tree-dse", "-fno-tree-sink", "-fno-ipa-reference-addressable"),
    # A barrier of the source is one place in the code for each call of its function, by which barriers are told apart.
    "-fno-thread-jumps",
    "-g1",
]
# Addresses by their types. It takes a fifth of the time to compile, and only a cast makes a pointer misaligned, perhaps
# to a type of pointers that has a name.
_WATCHING_ALIGNMENT = "-fsanitize=alignment"
_CAST = re.compile(
    r"reinterpret_cast|static_cast\s*<[^<>;]*\*|\([\w:<>,\s]*\w[\w:<>,\s]*\*[\s*]*(?:const\s*|volatile\s*|__restrict__\s*)*\)"
    r"|\btypedef\b[^;()]*\*|\busing\s+\w+\s*=[^;()]*\*|\badd_pointer|\bbit_cast\b|\bunion\b"
)
_LINK = [
    "-shared",
    "-Wl,-z,defs",
    "-Wl,-Bsymbolic",
    "-Wl,--build-id=none",
    # The hooks also see copies and fills by the C library, and what allocates memory.
    *(f"-Wl,--wrap={name}" for name in ("memcpy", "memmove", "memset", "malloc", "_Znwm", "_Znam")),
]

# What g++ takes for emulator.hpp where it finds it first.
_HEADERS = "emulator.hpp.gch"

_LARGEST_SHARED_BYTES = 227 * 1024  # as most_shared_bytes in launch.hpp
_SHARED_MEMORY = (
    '.section .tbss,"awT",%nobits\n.balign 128\n{labels}.zero '
    f'{_LARGEST_SHARED_BYTES}\n.section .note.GNU-stack,"",%progbits\n'
)
# nvcc's limit on every architecture; larger shared memory has to be dynamic.
_MOST_STATIC_SHARED_BYTES = 48 * 1024
_MOST_CONSTANT_BYTES = 64 * 1024
_MOST_ERRORS = 5

_ERROR = re.compile(r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_UNKNOWN = re.compile(
    r"'(?P<name>[\w:]+)' (?:was not declared|has not been declared|does not name a type|is not a namespace-name"
    r"|is not a class)"
    r"|there are no arguments to '(?P<call>\w+)'"
    r"|(?P<header>[\w./]+): No such file or directory"
    r"|'(?P<member>\w+)' is not a member of '(?P<space>cooperative_groups)'"
)
_CUDA_WORD = re.compile(
    r"^(?:__\w+|atomic\w+|cuda\w*|cooperative_groups|cub|thrust|nvcuda|nv_\w+|half2?|tex\w+|surf\w+|curand\w*|clock(?:64)?"
    r"|cooperative_groups::\w+|(?:cuda|cub|thrust|cooperative_groups)/.*|(?:cuda|cooperative_groups|curand|mma)[\w/]*\.c?u?h)$"
)
_LOCAL_VARIABLE = re.compile(r"_ZZ(?P<function>.*)E\d+\w+$")
# Assertions of the emulator's headers end so, too.
_LACKED = "is a CUDA word that the emulator does not supply"
_REFUSED_ASSEMBLY = re.compile(r"Assembler messages|in 'asm'|invalid 'asm'")
_HINT = (
    "docs/emulator.md lists what it supplies. Put what only the GPU has between #if defined(__CUDACC__) and #else, or "
    "leave this kernel to a GPU."
)


def find() -> list[str]:
    """The command for g++, from CXX if set. Raises BuildError if it isn't installed or isn't a command."""
    command = gxx()
    if shutil.which(command[0]) is None:
        raise BuildError(
            f"{command[0]} was not found on the PATH: the emulator compiles the kernels with g++ 9 or later. Install "
            "it (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; conda: conda install gxx), or name one "
            "in CXX"
        )
    return command


def version() -> str:
    """The compiler's release, such as "g++ 12.2.0". Raises BuildError if the command is no g++."""
    command, answer = find(), ""
    with suppress(OSError):
        answer = _run([*command, "-dumpfullversion"]).stdout.strip()
    if not re.fullmatch(r"\d+(\.\d+)+", answer):
        raise BuildError(f"{shlex.join(command)} is no g++ that can be run; name g++ 9 or later in CXX")
    return f"g++ {answer}"


def compile_runtime(emulator: Path, compiled: Path) -> None:
    """Compile what every library for the emulator contains, runtime.cpp in the folder `emulator`, to an object file.

    And emulator.hpp to _HEADERS beside it, since reading it took a third of the time to compile a kernel. A library is
    the same without that file. Raises BuildError as compile_for_emulator().
    """
    headers = ["-x", "c++-header", str(emulator / "emulator.hpp"), "-o", str(compiled.with_name(_HEADERS))]
    # Included first, or runtime.cpp would find the emulator.hpp beside it. No message names its lines, a table ten
    # times as long as a kernel's.
    runtime = ["-include", "emulator.hpp", "-g0", "-c", str(emulator / "runtime.cpp"), "-o", str(compiled)]
    folders = [f"-I{compiled.parent}", f"-I{emulator}"]
    for options in (headers, [*folders, *runtime]):
        output = _run([*_compiler(), *options], is_ours=True)
        if output.returncode != 0:
            raise BuildError(f"g++ could not compile the emulator:\n{_relative(output.stderr).strip()}")


def compile_for_emulator(
    unit: Path, library: Path, runtime: Path, include: Sequence[Path], options: Sequence[str] = ()
) -> str:
    """Compile `unit`, in the form described in workflow/emulator/entries.hpp, to the shared library `library`.

    runtime  as compile_runtime() made it
    options  further ones

    Returns the compiler's warnings. The same sources give the same bytes in any folder, because paths below the working
    directory are recorded relative to it. Raises BuildError if g++ is missing or refuses the unit; if the unit uses a
    CUDA name that the emulator does not supply, the message begins with this name.
    """
    with tempfile.TemporaryDirectory() as folder:
        assembly, objects = Path(folder) / "unit.s", [Path(folder) / "unit.o", runtime]
        # A kernel's units are compiled in a temporary folder.
        paths = [f"-ffile-prefix-map={unit.parent}/=", *(f"-I{path}" for path in (runtime.parent, *include))]
        files = [unit, *included_files(unit, include)]
        users = [file for file in files if not file.resolve().is_relative_to(HOME / "workflow/emulator")]
        alignment = [_WATCHING_ALIGNMENT] if any(_CAST.search(read_source(file)) for file in users) else []
        compiled = _run([*_compiler(), *alignment, *options, *paths, "-x", "c++", "-S", str(unit), "-o", str(assembly)])
        if compiled.returncode == 0:
            # -ffile-prefix-map leaves the sanitizers' file names as they are.
            text = assembly.read_text(encoding="utf-8").replace(f'"{Path.cwd()}/', '"').replace(f'"{unit.parent}/', '"')
            assembly.write_text(text, encoding="utf-8")
            assembled = _run([*find(), "-c", str(assembly), "-o", str(objects[0])])
            compiled.returncode, compiled.stderr = assembled.returncode, compiled.stderr + assembled.stderr
        if compiled.returncode != 0:
            raise _refusal(compiled.stderr)
        if is_untrusted():
            check_object(objects[0])
        _check_static_shared_memory(objects[0])
        _check_constant_memory(objects[0], {name for file in users for name in constant_names(read_source(file))})
        # The arrays declared `extern __shared__`: thread-local symbols that an object file uses and does not define.
        if arrays := sorted({name for file in objects for name, size in _thread_local_symbols(file) if size is None}):
            objects.append(Path(folder) / "shared.s")  # All names are for one memory, as on the GPU.
            labels = "".join(f".globl {name}\n.hidden {name}\n.type {name}, %object\n{name}:\n" for name in arrays)
            objects[-1].write_text(_SHARED_MEMORY.format(labels=labels), encoding="utf-8")
        linked = _run([*find(), *_LINK, *map(str, objects), "-o", str(library)])
        if linked.returncode != 0:
            undefined = sorted(set(re.findall(r"undefined reference to `([^']+)'", linked.stderr)))
            reason = f"nothing defines {', '.join(undefined)}" if undefined else linked.stderr.strip()
            raise BuildError(f"g++ could not link the kernel: {reason}")
    return _relative(compiled.stderr)


def _compiler() -> list[str]:
    """The command that compiles for the emulator."""
    paths = f"-ffile-prefix-map={Path.cwd()}/="
    return [*find(), *_LANGUAGE, *_RUNTIME, *_WARNINGS, *_WATCHING, paths]


def _run(command: Sequence[str], is_ours: bool = False) -> subprocess.CompletedProcess[str]:
    # The object files name PWD as the folder of the compiler.
    return run_compiler(command, is_ours, PWD="/proc/self/cwd")


def _relative(text: str) -> str:
    return text.replace(f"{Path.cwd()}/", "")


def _check_static_shared_memory(compiled: Path) -> None:
    """Refuse a function whose `__shared__` variables exceed static shared memory, as nvcc does.

    The variables are thread-local symbols, mangled as function and variable: _ZZ7shuffleIiEvPKiE6shared.
    """
    sizes: Counter[str] = Counter()
    for name, size in _thread_local_symbols(compiled):
        if size is not None and (local := _LOCAL_VARIABLE.match(name)):
            sizes[local["function"]] += size
    for function, size in sizes.items():
        if size > _MOST_STATIC_SHARED_BYTES:
            demangled = _run(["c++filt", f"_Z{function}"]).stdout.strip().removeprefix("void ")
            cause = (
                f"{demangled.partition('(')[0]} has {size} bytes of static shared memory; a GPU allows "
                f"{_MOST_STATIC_SHARED_BYTES}"
            )
            advice = "Make it dynamic: extern __shared__, with its bytes as shared in the study"
            raise BuildError(f"{cause}. {advice}", cause=cause)


def _check_constant_memory(compiled: Path, names: Collection[str]) -> None:
    """Refuse a file whose variables of these names exceed constant memory, as ptxas does."""
    sizes = {symbol: size or 0 for symbol, size in _symbols(compiled, "STT_OBJECT") if names}
    if sum(sizes.values()) <= _MOST_CONSTANT_BYTES:
        return
    demangled = _run(["c++filt", *sizes]).stdout.splitlines()
    is_constant = re.compile(rf"(?:^|::)(?:{'|'.join(names)})(?:<|$)")
    found = {name: size for name, size in zip(demangled, sizes.values(), strict=True) if is_constant.search(name)}
    if (size := sum(found.values())) > _MOST_CONSTANT_BYTES:
        raise BuildError(
            f"{', '.join(sorted(found))}: {size} bytes of constant memory; a GPU allows {_MOST_CONSTANT_BYTES} in a "
            "file. Put what is large into global memory"
        )


def _thread_local_symbols(compiled: Path) -> list[tuple[str, int | None]]:
    """The thread-local symbols of an object file with their sizes in bytes, or None if defined elsewhere."""
    return _symbols(compiled, "STT_TLS")


def _symbols(compiled: Path, kind: str) -> list[tuple[str, int | None]]:
    with compiled.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        return [
            (symbol.name, None if symbol["st_shndx"] == "SHN_UNDEF" else symbol["st_size"])
            for symbol in table.iter_symbols()
            if symbol["st_info"]["type"] == kind
        ]


def _refusal(stderr: str) -> BuildError:
    """The error with the first of g++'s errors, after an explanation if the emulator lacks a feature."""
    text = _relative(stderr)
    errors = list(dict.fromkeys(match[0] for match in _ERROR.finditer(text)))
    told = errors or text.strip().splitlines()
    message = "g++ refused the kernel:\n" + ("\n".join(errors[:_MOST_ERRORS]) or text.strip())
    if len(errors) > _MOST_ERRORS:
        message += f"\n... and {len(errors) - _MOST_ERRORS} more errors"
    for error in _ERROR.finditer(text):
        unknown = _UNKNOWN.search(error["text"])
        word = "::".join(filter(None, (unknown and unknown.group("name", "call", "header", "space", "member")) or ()))
        if _CUDA_WORD.match(word):
            cause = f"{error['file']}:{error['line']}: {word} {_LACKED}"
            return BuildError(f"{cause}. {_HINT}\n{message}", Reason.NOT_SUPPLIED, cause)
    if _REFUSED_ASSEMBLY.search(text):
        cause = "assembly for the GPU (PTX) is something that the emulator does not supply"
        return BuildError(f"{cause}. {_HINT}\n{message}", Reason.NOT_SUPPLIED, cause)
    return BuildError(message, Reason.NOT_SUPPLIED if _LACKED in text else Reason.NONE, next(iter(told), ""))
