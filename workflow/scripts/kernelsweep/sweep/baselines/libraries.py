"""Libraries whose functions kernels are compared with, on the same buffers and timed by the same loop.

The configuration calls them rivals. This module holds their properties, and treats a library as a kernel.
library_calls.py has the functions, and library_platform.py calls them, on a GPU only.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.base.code_hash import code_hash
from kernelsweep.compile.binaries import new_report
from kernelsweep.errors import UserError, check_known
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.study.axes import Axes
from kernelsweep.study.expressions import expression
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation, swept_points
from kernelsweep.study.kernels.launches import function_name, is_expression
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem import CXX_TYPES
from kernelsweep.study.problem.problem_file import Problem
from kernelsweep.study.resolve import swept_axes
from kernelsweep.study.settings import AxesLayer, Config, KernelSettings, LaunchSettings, Rival
from kernelsweep.study.study import Study, read_kernel

# The longest chain of additions of an element: each of these libraries sums at least 2^16 chains, if the array has as
# many elements, and adds the chains up in trees.
_SUMMATION_DEPTH = "ceil(array_size / 2**16) + 64"


@dataclass(frozen=True)
class Library:
    """A library's function.

    label       its name for readers
    package     the Python package that has it; "" for CUB, which nvcc compiles here
    install     how to install it
    words       what a study gives it in brackets, as cublas_matmul<precision>: the values that it has of each; none
                where it has all
    parameters  its arguments for readers, in their order
    roundings   an expression for the longest chain of additions of an element, as a kernel's
    options     what nvcc is given for it besides cub.cu
    """

    label: str
    package: str
    install: str
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    roundings: str = "0"
    options: tuple[str, ...] = ()


_TOOLKIT = "the CUDA toolkit, of which it is part"


def _reduction(label: str, package: str, install: str) -> Library:
    words = {"operation": ("sum", "product", "minimum", "maximum"), "dtype": ()}
    return Library(label, package, install, words, ("data", "value", "array_size"), _SUMMATION_DEPTH)


# In the order of tables.
LIBRARIES: Mapping[str, Library] = {
    "cub": _reduction("CUB's DeviceReduce", "", _TOOLKIT),
    "torch": _reduction("PyTorch's sum", "torch", "pip install torch"),
    "cublas_matmul": Library(
        "cuBLAS's SGEMM",
        "torch",
        "pip install torch",
        {"precision": ("float32", "tf32")},
        ("C", "A", "B", "m", "n", "k"),
    ),
    "cub_histogram": Library(
        "CUB's DeviceHistogram::HistogramEven",
        "",
        _TOOLKIT,
        parameters=("counts", "data", "array_size"),
        options=("-DHISTOGRAM",),
    ),
}

# The libraries that nvcc compiles here, from cub.cu.
COMPILED = tuple(name for name, library in LIBRARIES.items() if not library.package)

# What stands for the build report of the others.
NOT_COMPILED: Mapping[str, Any] = {"status": "ok", "message": "", "target": None}

# The platform that calls them, as in platforms.kinds.Kind.
IMPLEMENTATION = "kernelsweep.sweep.baselines.library_platform:LibraryPlatform"


def as_kernel(name: str, problem: Problem, call: Rival, shown: str = "rivals") -> KernelSource:
    """A library as a kernel of a problem, whose one launch stands for the call.

    call   a study's entry for the library, with its arguments
    shown  where the study has that entry, for messages
    """
    launch = LaunchSettings(kernel=call.call, grid=1, block=1, arguments=call.arguments)
    entry = KernelSettings(name=name, launches=[launch], roundings=LIBRARIES[name].roundings)
    return read_kernel(entry, Path(f"{name}.py"), problem, {}, shown)


def why_missing(name: str) -> str | None:
    """Why a library can't be called from this Python environment, or None if it can."""
    library = LIBRARIES[name]
    if not library.package or importlib.util.find_spec(library.package) is not None:
        return None
    return f"{library.package} is not installed ({library.install})"


def library_axes(config: Config, study: Study, platform: str, rival: str | None = None) -> list[Axes]:
    """The axes of what is measured beside a study's kernels on a platform, as kernel_axes.

    rival  a library; None for the driver

    Libraries choose their own blocks. So their points lack the axes that say how kernels are built or launched, unless
    the data or the library's call depends on them.
    """
    needed = {name for name, axis in study.problem.axes.items() if not axis.of_kernel}
    call = AxesLayer()
    if rival is not None:
        call = study.settings.rival_calls[rival]
        needed |= {*study.problem.instance_axes, *axes_of_call(as_kernel(rival, study.problem, call))}
    sweeps = swept_axes(config, study, call, False, platform)
    return [{name: values for name, values in axes.items() if name in needed} for axes in sweeps]


def words_of(kernel: KernelSource) -> tuple[str, ...]:
    """The expressions for the words of a study's call, whose launch stands for it."""
    return function_name(kernel.launches.listed[0].kernel or kernel.name)[1]


def axes_of_call(kernel: KernelSource) -> set[str]:
    """The axes that a library's call names in its words and its arguments."""
    texts = (*words_of(kernel), *map(str, kernel.launches.listed[0].arguments))
    return {name for text in texts if is_expression(text) for name in expression(text).names} & {*kernel.problem.axes}


def planned_calls(
    kernel: KernelSource, sweeps: Sequence[Axes], restrictions: Sequence[str], tied: Sequence[Sequence[str]] = ()
) -> list[PlannedPoint]:
    """A library's points."""
    library = LIBRARIES[kernel.name]

    def reason(point: Point) -> str | None:
        if missing := why_missing(kernel.name):
            return missing
        for (name, known), word in zip(library.words.items(), _words(kernel, point), strict=True):
            if known and word not in known:
                return f"{name} {word}: {library.label} has {', '.join(known)}"
        return None

    planned = swept_points(sweeps, 1, restrictions, tied)
    return [PlannedPoint(point, instantiation(kernel, point), reason(point)) for point in planned]


def library_report(
    kernel: KernelSource, library: Path | None, built: Mapping[str, Any], planned: Sequence[PlannedPoint]
) -> dict[str, Any]:
    """A library's counterpart of a kernel's build report, with the variants of the points that run.

    library  the library that nvcc compiled, for one of COMPILED
    built    its build report
    """
    report = new_report(built["target"], "")
    if built["status"] != "ok":
        return {**report, "status": built["status"], "message": built["message"]}
    run = {each.variant: each.point for each in planned if not each.skipped}
    if run:
        code = code_hash(map(Path(__file__).with_name, ("library_platform.py", "library_calls.py")))
        digest = hashlib.sha256(f"{version(kernel.name, library)} {code}".encode()).hexdigest()
        report["variants"] = {
            variant: {"rival": kernel.name, "words": _words(kernel, point), "binary_sha256": digest}
            for variant, point in run.items()
        }
    return report


def _words(kernel: KernelSource, point: Point) -> list[str]:
    """The words of a variant, which come first when its library is called."""
    return [str(expression(text)(point)) if _is_of_axes(text, point) else text for text in words_of(kernel)]


def _is_of_axes(text: str, axes: Collection[str]) -> bool:
    """Whether a word of a call is an expression over axes. Any other stands for itself, as in cublas_matmul<tf32>."""
    return is_expression(text) and expression(text).names <= {*axes}


def version(name: str, library: Path | None) -> str:
    """A library's installed package with its version, or the hash of the compiled library."""
    if library is not None:
        return hashlib.sha256(library.read_bytes()).hexdigest()
    found = importlib.metadata.packages_distributions().get(LIBRARIES[name].package, [])
    return " ".join(f"{distribution} {importlib.metadata.version(distribution)}" for distribution in sorted(found))


def check_baselines(study: Study) -> None:
    """Raise UserError if a study names something unknown to compare its kernels with, or something for other work."""
    settings, kernels, file = study.settings, study.kernels, study.file
    for key in ("rivals", "limits"):
        if getattr(settings, key) and not study.compares_times:
            raise UserError(f"{file.at(key)} do the same work as every kernel, but this study compares outputs.")
    for name in LIBRARIES:
        if name in kernels:
            where = file.line(f"kernels.{name}")
            raise UserError(f"{where}: kernels has {name!r}, which is a library's name in tables. Choose another one.")
    for name in settings.limits:
        check_known(name, [*DRIVER_LIMITS, *kernels], f"{file.at('limits')} names")
    if {*settings.limits} & {*DRIVER_LIMITS} and "bytes" not in study.problem.work(settings.reference):
        raise UserError(
            f"{file.at('limits')} move as many bytes as the problem's work has, and its work names no bytes."
        )
    for name, call in settings.rival_calls.items():
        _check_call(name, call, study)


def _check_call(name: str, call: Rival, study: Study) -> None:
    """Raise UserError if a study calls a library's function that there isn't, or with other words or arguments."""
    check_known(name, LIBRARIES, f"{study.file.at('rivals')} has")
    where = study.file.at("rivals")
    words, parameters = LIBRARIES[name].words, LIBRARIES[name].parameters
    given = words_of(as_kernel(name, study.problem, call))
    if (len(given), len(call.arguments)) != (len(words), len(parameters)):
        needed = f"{name}<{', '.join(words)}>" if words else name
        raise UserError(
            f"{where} calls {call.call!r} with {len(call.arguments)} arguments. It needs: {needed} with "
            f"{', '.join(parameters)}."
        )
    axes = study.problem.axes
    for word, known, text in zip(words, words.values(), given, strict=True):
        if not _is_of_axes(text, axes) and text not in (known or CXX_TYPES):
            raise UserError(
                f"{where} calls {call.call!r}, and {text!r} is no {word}. Allowed: "
                f"{', '.join(known or CXX_TYPES)}, and expressions over the axes {', '.join(axes)}."
            )
