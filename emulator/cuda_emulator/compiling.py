"""Compile a translation unit with g++ to a shared library that the emulator runs."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from cuda_emulator.errors import Refused
from cuda_emulator.ptx import translated
from cuda_emulator.refusals import is_assembly, lacking, refusal
from cuda_emulator.symbols import OBJECT, THREAD_LOCAL, symbols
from cuda_emulator.untrusted import check_object, check_watched

# The folder of the emulator's C++.
HEADERS = Path(__file__).resolve().parents[1] / "cpp"

# Runs a compiler's command, with environment variables by name.
Run = Callable[..., subprocess.CompletedProcess[str]]

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
    "-fcheck-new",  # null where there is no room
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
# duplicates accesses of the source in the code, so that the lanes of a warp are at different ones. -g gives the
# accesses' lines, and what shared memory is declared as.
_WATCHING = [
    "-fsanitize=thread",
    # Indices of arrays, also of those that a thread has to itself.
    "-fsanitize=bounds-strict",
    "-fno-tree-sra",
    # Else g++ writes some of them out, as accesses that no hook sees.
    *("-fno-builtin-memcpy", "-fno-builtin-memmove", "-fno-builtin-memset"),
    # Nor is a pair of them, or an access before the second, of no use.
    *("-fno-builtin-malloc", "-fno-builtin-free", "-fno-allocation-dce"),
    # The hooks are called for what these leave of the source. They remove accesses of which nothing depends, move them
    # into branches, and take a static variable that is never written for zeros: a GPU's shared memory is not.
    *("-fno-tree-dce", "-fno-tree-dse", "-fno-tree-sink", "-fno-ipa-reference-addressable"),
    # A barrier of the source is one place in the code for each call of its function, by which barriers are told apart.
    "-fno-thread-jumps",
    *("-g", "-fno-var-tracking"),  # of variables, those in shared memory are asked for, which stay where they are
]
# Addresses by their types. It takes a fifth of the time to compile, and only a cast makes a pointer misaligned, perhaps
# to a type of pointers that has a name.
_WATCHING_ALIGNMENT = "-fsanitize=alignment"
_CAST = re.compile(
    r"reinterpret_cast|static_cast\s*<[^<>;]*\*|\((?=[:<>,\s]*+\w)[\w:<>,\s]*+\*[\s*]*+(?:const\s*|volatile\s*|__restrict__\s*)*\)"
    r"|\btypedef\b[^;()]{0,999}\*|\busing\s+\w+\s*=[^;()]{0,999}\*|\badd_pointer|\bbit_cast\b|\bunion\b"
)
_LINK = [
    "-shared",
    "-Wl,-z,defs",
    "-Wl,-Bsymbolic",
    "-Wl,--build-id=none",
    # The hooks also see copies and fills by the C library, and what allocates memory and gives it back.
    *(f"-Wl,--wrap={name}" for name in ("memcpy", "memmove", "memset", "malloc", "_Znwm", "_Znam")),
    *(f"-Wl,--wrap={name}" for name in ("free", "_ZdlPv", "_ZdaPv", "_ZdlPvm", "_ZdaPvm")),
]
# C++'s own library, which few kernels need, has so many names that to link with it takes twice as long.
_WITHOUT_CXX = ("-nodefaultlibs", "-lm", "-lgcc_s", "-lgcc", "-lc")

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

_MOST_LISTED = 2**23  # letters; a longer answer of a compiler may be cut

# The object files name PWD as the folder of the compiler.
_IN_ANY_FOLDER = {"PWD": "/proc/self/cwd"}

_AN_ERROR = re.compile(r"error: .*")
# A member of a class with the name of a type that the class has used before.
_ALLOWED_BY_NVCC = "changes meaning"
_LOCAL_VARIABLE = re.compile(r"_ZZ(?P<function>.*)E\d+\w+$")


def run_plainly(command: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a compiler in this process' environment, with `variables` besides. Its messages are in English."""
    environment = {**os.environ, "LC_ALL": "C", **variables}
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace", env=environment
    )


def find() -> list[str]:
    """The command for g++, from CXX if set. Raises Refused if it isn't installed or isn't a command."""
    command = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    if shutil.which(command[0]) is None:
        raise Refused(
            f"{command[0]} was not found on the PATH: the emulator compiles the kernels with g++ 9 or later. Install "
            "it (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; conda: conda install gxx), or name one "
            "in CXX"
        )
    return command


def version(run: Run = run_plainly) -> str:
    """The compiler's release, such as "g++ 12.2.0". Raises Refused if the command is no g++."""
    command = find()
    file = Path(shutil.which(command[0]) or command[0])
    answer = _release(tuple(command), file.resolve(), file.stat().st_mtime_ns, run)
    if not re.fullmatch(r"\d+(\.\d+)+", answer):
        raise Refused(f"{shlex.join(command)} is no g++ that can be run; name g++ 9 or later in CXX")
    return f"g++ {answer}"


@cache
def _release(command: tuple[str, ...], file: Path, modified: int, run: Run) -> str:
    """What the command says of its release, asked once while its file is the same."""
    with suppress(OSError):
        return run([*command, "-dumpfullversion"], **_IN_ANY_FOLDER).stdout.strip()
    return ""


def compile_runtime(compiled: Path, headers: Path = HEADERS, run: Run = run_plainly) -> Path:
    """Compile what every library for the emulator contains, runtime.cpp, to an object file, which is returned.

    And emulator.hpp to _HEADERS beside it, since reading it took a third of the time to compile a kernel. A library is
    the same without that file. Each file appears whole: others may compile with them meanwhile. Raises Refused as
    compile_for_emulator().
    """
    precompiled = ["-x", "c++-header", str(headers / "emulator.hpp")]
    # Included first, or runtime.cpp would find the emulator.hpp beside it. No message names its lines, a table ten
    # times as long as a kernel's.
    runtime = ["-include", "emulator.hpp", "-g0", "-c", str(headers / "runtime.cpp")]
    folders = [f"-I{compiled.parent}", f"-I{headers}"]
    for options, file in ((precompiled, compiled.with_name(_HEADERS)), ([*folders, *runtime], compiled)):
        part = file.with_name(f"{file.stem}.{os.getpid()}{file.suffix}")
        output = run([*_compiler(), *options, "-o", str(part)], **_IN_ANY_FOLDER)
        if output.returncode != 0:
            raise Refused(f"g++ could not compile the emulator:\n{_relative(output.stderr).strip()}")
        part.replace(file)
    return compiled


def compile_for_emulator(
    unit: Path,
    library: Path,
    runtime: Path,
    include: Sequence[Path],
    options: Sequence[str] = (),
    files: Sequence[Path] | None = None,
    constant_names: Collection[str] = (),
    headers: Path = HEADERS,
    is_untrusted: bool = False,
    run: Run = run_plainly,
) -> str:
    """Compile `unit`, in the form described in cpp/entries.hpp, to the shared library `library`.

    runtime         as compile_runtime() made it
    include         the folders of the kernel's headers
    files           what the unit includes besides the emulator's: whether pointers are cast there; None where unknown
    constant_names  of the unit's variables in constant memory, whose size is limited
    headers         the folder of the emulator's C++, as messages name it
    is_untrusted    whether to refuse what is more than device functions
    run             runs a compiler: its command, and by name what environment variables it has besides

    Returns the compiler's warnings. The same sources give the same bytes in any folder, because paths below the working
    directory are recorded relative to it. Raises Refused if g++ is missing or refuses the unit; if the unit uses a
    CUDA name that the emulator does not supply, the message begins with this name.
    """
    with tempfile.TemporaryDirectory() as folder:
        objects = [Path(folder) / "unit.o", runtime]
        # A kernel's units are compiled in a temporary folder.
        folders = (runtime.parent, headers, headers / "include", *include)
        paths = [f"-ffile-prefix-map={unit.parent}/=", *(f"-I{path}" for path in folders)]
        texts = (file.read_text(encoding="utf-8", errors="replace") for file in (unit, *(files or ())))
        alignment = [_WATCHING_ALIGNMENT] if files is None or any(map(_CAST.search, texts)) else []
        command = [*_compiler(), *alignment, *options, *paths, "-x", "c++"]
        compiled = _compiled(command, unit, objects[0], unit.parent, run)
        if compiled.returncode != 0 and is_assembly(compiled.stderr) and not is_untrusted:
            preprocessed = Path(folder) / "unit.cpp"
            before = ["-include", str(headers / "ptx.hpp"), "-E", str(unit), "-o", str(preprocessed)]
            run([*command, *before], **_IN_ANY_FOLDER)
            text = preprocessed.read_text(encoding="utf-8", errors="replace")
            preprocessed.write_text(translated(text, headers), encoding="utf-8")
            compiled = _compiled(command, preprocessed, objects[0], unit.parent, run)
        if compiled.returncode != 0:
            raise refusal(_relative(compiled.stderr))
        if is_untrusted:
            check_object(objects[0])
            check_watched(_listing(objects[0], run), f"{_relative(str(headers))}/")
        _check_static_shared_memory(objects[0], run)
        _check_constant_memory(objects[0], constant_names, run)
        _link(objects, library, Path(folder), run)
    return _relative(compiled.stderr)


def preprocessed(unit: Path, include: Sequence[Path], options: Sequence[str], headers: Path, run: Run) -> str:
    """What g++'s preprocessor makes of a unit; the arguments are those of compile_for_emulator(). Raises Refused."""
    folders = [f"-I{path}" for path in (headers, headers / "include", *include)]
    output = unit.with_suffix(".ii")
    run_of = run([*_compiler(), *options, *folders, "-x", "c++", "-E", str(unit), "-o", str(output)], **_IN_ANY_FOLDER)
    if run_of.returncode != 0:
        raise refusal(_relative(run_of.stderr))
    return output.read_text(encoding="utf-8", errors="replace")


def _link(objects: Sequence[Path], library: Path, folder: Path, run: Run) -> None:
    """Link object files, with memory for dynamic shared arrays. Raises Refused for what nothing defines."""
    # The arrays declared `extern __shared__`: thread-local symbols that an object file uses and does not define.
    extra = []
    if arrays := sorted({name for file in objects for name, size in _symbols(file, THREAD_LOCAL) if size is None}):
        extra = [folder / "shared.s"]  # All names are for one memory, as on the GPU.
        labels = "".join(f".globl {name}\n.hidden {name}\n.type {name}, %object\n{name}:\n" for name in arrays)
        extra[0].write_text(_SHARED_MEMORY.format(labels=labels), encoding="utf-8")
    command = [*find(), *_LINK, *map(str, [*objects, *extra]), "-o", str(library)]
    for libraries in (_WITHOUT_CXX, ()):
        linked = run([*command, *libraries], **_IN_ANY_FOLDER)
        if linked.returncode == 0:
            return
    undefined = sorted(set(re.findall(r"undefined reference to `([^']+)'", linked.stderr)))
    reason = f"nothing defines {', '.join(undefined)}" if undefined else linked.stderr.strip()
    raise Refused(f"g++ could not link the kernel: {reason}")


def _compiled(
    command: Sequence[str], unit: Path, compiled: Path, folder: Path, run: Run
) -> subprocess.CompletedProcess[str]:
    """Compile a unit to an object file by way of assembly, whose file names are made relative to `folder` as well."""
    assembly = compiled.with_suffix(".s")
    command = [*command, "-S", str(unit), "-o", str(assembly)]
    output = run(command, **_IN_ANY_FOLDER)
    if output.returncode != 0 and all(_ALLOWED_BY_NVCC in one for one in _AN_ERROR.findall(output.stderr)):
        output = run([*command, "-fpermissive"], **_IN_ANY_FOLDER)
    if output.returncode == 0:
        # -ffile-prefix-map leaves the sanitizers' file names as they are.
        text = assembly.read_text(encoding="utf-8").replace(f'"{Path.cwd()}/', '"').replace(f'"{folder}/', '"')
        assembly.write_text(text, encoding="utf-8")
        assembled = run([*find(), "-c", str(assembly), "-o", str(compiled)], **_IN_ANY_FOLDER)
        output.returncode, output.stderr = assembled.returncode, output.stderr + assembled.stderr
    return output


def _compiler() -> list[str]:
    paths = f"-ffile-prefix-map={Path.cwd()}/="
    return [*find(), *_LANGUAGE, *_RUNTIME, *_WARNINGS, *_WATCHING, paths]


def _listing(compiled: Path, run: Run) -> str:
    """The instructions of an object file in words, with their relocations and lines. Raises Refused."""
    if shutil.which("objdump"):
        printed = run(["objdump", "-dlr", "--no-show-raw-insn", str(compiled)], **_IN_ANY_FOLDER)
        if printed.returncode == 0 and len(printed.stdout) < _MOST_LISTED:
            return printed.stdout.replace(f"{_IN_ANY_FOLDER['PWD']}/", "")
    raise lacking(
        "that all accesses are watched is not checked: objdump, of binutils, is missing, or can't list the code"
    )


def _relative(text: str) -> str:
    return text.replace(f"{Path.cwd()}/", "")


def _check_static_shared_memory(compiled: Path, run: Run) -> None:
    """Refuse a function whose `__shared__` variables exceed static shared memory, as nvcc does.

    The variables are thread-local symbols, mangled as function and variable: _ZZ7shuffleIiEvPKiE6shared.
    """
    sizes: Counter[str] = Counter()
    for name, size in _symbols(compiled, THREAD_LOCAL):
        if size is not None and (local := _LOCAL_VARIABLE.match(name)):
            sizes[local["function"]] += size
    for function, size in sizes.items():
        if size > _MOST_STATIC_SHARED_BYTES:
            demangled = run(["c++filt", f"_Z{function}"], **_IN_ANY_FOLDER).stdout.strip().removeprefix("void ")
            cause = (
                f"{demangled.partition('(')[0]} has {size} bytes of static shared memory; a GPU allows "
                f"{_MOST_STATIC_SHARED_BYTES}"
            )
            advice = "Make it dynamic: extern __shared__, with its bytes as shared in the study"
            raise Refused(f"{cause}. {advice}", cause)


def _check_constant_memory(compiled: Path, names: Collection[str], run: Run) -> None:
    """Refuse a file whose variables of these names exceed constant memory, as ptxas does."""
    sizes = {symbol: size or 0 for symbol, size in _symbols(compiled, OBJECT) if names}
    if sum(sizes.values()) <= _MOST_CONSTANT_BYTES:
        return
    demangled = run(["c++filt", *sizes], **_IN_ANY_FOLDER).stdout.splitlines()
    is_constant = re.compile(rf"(?:^|::)(?:{'|'.join(names)})(?:<|$)")
    found = {name: size for name, size in zip(demangled, sizes.values(), strict=True) if is_constant.search(name)}
    if (size := sum(found.values())) > _MOST_CONSTANT_BYTES:
        raise Refused(
            f"{', '.join(sorted(found))}: {size} bytes of constant memory; a GPU allows {_MOST_CONSTANT_BYTES} in a "
            "file. Put what is large into global memory"
        )


def _symbols(compiled: Path, kind: int) -> list[tuple[str, int | None]]:
    """The symbols of a kind in an object file with their sizes in bytes, or None if defined elsewhere."""
    found = symbols(compiled.read_bytes())
    return [(one.name, one.size if one.is_defined else None) for one in found if one.kind == kind]
