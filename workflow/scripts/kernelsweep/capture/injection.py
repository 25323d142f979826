"""Run a program with a library of ours inside: compile the library once, and read what it has written.

capture.cpp watches by CUPTI, whose header and library are the toolkit's or of PyPI's nvidia-cuda-cupti. apply.cpp
needs the driver alone.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kernelsweep.base.compilers import gxx, run_compiler
from kernelsweep.base.user_cache import cache_folder
from kernelsweep.compile.toolkit import toolkits
from kernelsweep.errors import UserError

_HEADERS = ("include", "extras/CUPTI/include")
_LIBRARIES = ("lib64", "lib", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")


def cupti() -> tuple[list[Path], Path]:
    """The folders with cupti.h and cuda.h, and CUPTI's library. Raises UserError, with what to install."""
    for toolkit in map(Path, toolkits()):
        headers = [toolkit / folder for folder in _HEADERS if (toolkit / folder).is_dir()]
        names = {name for folder in headers for name in ("cupti.h", "cuda.h") if (folder / name).is_file()}
        libraries = [file for folder in _LIBRARIES for file in sorted((toolkit / folder).glob("libcupti.so.*"))]
        if len(names) == 2 and libraries:
            return headers, libraries[0].resolve()
    raise UserError(
        f"CUPTI was not found: cupti.h, cuda.h and libcupti.so in one of {', '.join(toolkits())}. Install the CUDA "
        "toolkit with CUPTI, or name its folder in CUDA_HOME, or: pip install nvidia-cuda-cupti nvidia-cuda-runtime"
    )


def library(source: str) -> Path:
    """The compiled library of a source beside this file, capture.cpp or apply.cpp. Raises UserError."""
    file = Path(__file__).with_name(source)
    folders, linked = cupti()
    # With a C++ library of its own: the program may have an older one.
    alone = ["-fvisibility=hidden", "-fno-gnu-unique", "-static-libstdc++", "-static-libgcc", "-Wl,--exclude-libs,ALL"]
    options = [*gxx(), "-std=c++17", "-O2", "-shared", "-fPIC", *alone, *(f"-I{folder}" for folder in folders)]
    content = f"{options} {linked} {file.read_text(encoding='utf-8')}"
    kept = cache_folder() / f"capture/{hashlib.sha256(content.encode()).hexdigest()[:16]}.so"
    if kept.is_file():
        os.utime(kept)
        return kept
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
        made, driver = Path(folder) / kept.name, Path(folder) / "libcuda.so.1"
        whole = [*options, str(file), "-o", str(made), "-ldl"]
        commands = [whole]
        if source == "capture.cpp":
            # The driver's library need not be on the machine that compiles: an empty one has its name.
            empty = [*gxx(), "-shared", f"-Wl,-soname,{driver.name}", "-x", "c++", os.devnull, "-o", str(driver)]
            libraries = ["-Wl,--no-as-needed", str(driver), str(linked), f"-Wl,-rpath,{linked.parent}"]
            commands = [empty, [*whole, *libraries]]
        for command in commands:
            run = run_compiler(command, is_ours=True)
            if run.returncode:
                raise UserError(f"g++ refused {file.name}, with the headers in {folders[0]}:\n{run.stderr.strip()}")
        made.replace(kept)
    return kept


def read_command(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options of a command line, and a program's own behind `--`."""
    own = [*itertools.takewhile(lambda one: one != "--", arguments)]
    return parser.parse_args(own), [*arguments[len(own) + 1 :]]


def run(command: Sequence[str], variables: Mapping[str, str], output: IO[bytes] | None = None) -> int:
    """Run a program with further variables of the environment; its exit status, as a shell tells it.

    output  gets what it prints; None leaves that where it goes

    Raises UserError where it can't be started.
    """
    try:
        process = subprocess.Popen(command, stdout=output, env={**os.environ, **variables})
    except OSError as error:
        raise UserError(f"{command[0]} can't be started: {error.strerror}.") from error
    status = None
    while status is None:
        with contextlib.suppress(KeyboardInterrupt):  # The program gets it, too.
            status = process.wait()
    return 128 - status if status < 0 else status


@dataclass(frozen=True)
class Watched:
    """What a run of a program has shown.

    status   its exit status
    folder   has the files that records name
    records  of each of its processes that used CUDA, as capture.cpp writes them
    """

    status: int
    folder: Path
    records: Sequence[Mapping[str, Any]]

    def check(self) -> None:
        """Raise UserError where the program used no CUDA, or could not be watched."""
        if not self.records:
            raise UserError("Nothing was captured: no process of the program started CUDA 12.4 or later.")
        if errors := [record["error"] for record in self.records if record["error"]]:
            raise UserError(f"Nothing was captured: {errors[0]}.")

    @property
    def launches(self) -> list[Mapping[str, Any]]:
        """The captured launches, of the first process that has some."""
        return next((list(record["launches"]) for record in self.records if record["launches"]), [])


def watch(
    command: Sequence[str], folder: Path, pattern: str, launches: Sequence[int], start: float, most: int
) -> Watched:
    """Run a program, and list its kernels; with a pattern, capture launches of the kernels whose names have it.

    launches  their numbers among those of the pattern, from 1
    start     seconds from the program's start, before which no launch counts
    most      the most bytes of a launch's buffers

    Raises UserError where the program can't be started.
    """
    numbers = ",".join(map(str, launches))
    settings = {"": folder, "_KERNEL": pattern, "_LAUNCHES": numbers, "_FROM": int(1e6 * start), "_MOST": most}
    variables = {f"KERNELSWEEP_CAPTURE{name}": str(value) for name, value in settings.items()}
    status = run(command, {**variables, "CUDA_INJECTION64_PATH": str(library("capture.cpp"))})
    records = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))]
    return Watched(status, folder, records)
