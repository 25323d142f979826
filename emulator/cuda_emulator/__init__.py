"""CUDA kernels on a CPU: compiled with g++, run, and every access to memory seen (README.md beside this folder).

errors      Refused, LaunchFailed
compiling   a translation unit to a shared library, with g++
unit        a kernel's functions to a translation unit, and that compiled
untrusted   what the code of an untrusted kernel may have
lines       addresses to lines of source, and to variables
library     a shared library: launches, and what it tells of accesses to memory
mistakes    mistakes in words
quantities  counts to metrics
"""

from cuda_emulator.compiling import HEADERS, compile_runtime, version
from cuda_emulator.errors import LaunchFailed, Refused
from cuda_emulator.library import Attributes, Library, Report, allocate, schedule_name
from cuda_emulator.mistakes import Finding
from cuda_emulator.unit import Compiled, compile

__all__ = [
    "HEADERS",
    "Attributes",
    "Compiled",
    "Finding",
    "LaunchFailed",
    "Library",
    "Refused",
    "Report",
    "allocate",
    "compile",
    "compile_runtime",
    "schedule_name",
    "version",
]
