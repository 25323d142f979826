"""Write the C++ header that reduces arrays with the fastest configurations.

template.cuh is the part that is the same in every header. This module adds the choices, for each architecture at which
they change, and the sources of the chosen kernels.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from jinja2 import Environment, StrictUndefined

from kernelsweep.analysis.reference import has_times
from kernelsweep.analysis.words import device_text
from kernelsweep.errors import UserError
from kernelsweep.problems.element_types import CXX_TYPES
from kernelsweep.problems.operations import OPERATIONS
from kernelsweep.share.reduce_header.offered import HEADER_TEMPLATE, ONE_VALUE_PLANS, is_offered, needed_architecture
from kernelsweep.share.reduce_header.size_classes import Choice, ReductionKind, Shape, choose
from kernelsweep.share.reduce_header.sources import library_includes, namespace, source_files
from kernelsweep.sweep.expressions import Expression
from kernelsweep.sweep.kernels.launch_plans import CLUSTER_SIZE, VECTOR_BYTES
from kernelsweep.sweep.kernels.source import KernelSource, included_files, source_sha256

# The file with the operations, in the folder of kernels.
_OPERATIONS_FILE = "include/operations.cuh"

# The longest line of a comment, without its slashes.
_LINE = 117

_Choices = Mapping[ReductionKind, tuple[Choice, ...]]


@dataclass(frozen=True)
class Variant:
    """A kernel with a fixed block size and unroll factor; the header's user chooses element type and operation."""

    kernel: KernelSource
    block_size: int
    unroll: int

    @property
    def instantiation(self) -> str:
        """Its C++ name inside a function that has the template parameters Element and Operation."""
        fixed = {"block_size": f"{self.block_size}u", "unroll": f"{self.unroll}u"}
        return f"{self.kernel.name}<{', '.join(fixed.get(name, name) for name in self.kernel.template_parameters)}>"


def reduce_header(
    rows: pandas.DataFrame,
    kernels: Mapping[tuple[str, str], KernelSource],
    folder: Path,
    device: Mapping[str, Any],
    history: Sequence[str],
) -> str:
    """The header's text.

    rows     from measurements.load_measurements()
    kernels  by study and name; a header can offer some of them
    folder   the folder of the kernels' sources, which contains the folder `include`
    device   the measured device, as in device.json
    history  lines with the dates and revisions of the measurements and the header

    Raises UserError if no kernel that a header can offer has a time.
    """
    levels = _levels(rows, kernels, device)
    every = [choice for choices in levels.values() for of_kind in choices.values() for choice in of_kind]
    ordered = sorted({choice.shape for choice in every}, key=lambda shape: shape.order)
    variants = list(dict.fromkeys(_variant(shape) for shape in ordered))
    chosen = list(dict.fromkeys(variant.kernel for variant in variants))
    measured = max(levels)
    kinds = {kind for choices in levels.values() for kind in choices}
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    return environment.from_string(HEADER_TEMPLATE.read_text(encoding="utf-8")).render(
        provenance=[
            line
            for text in (*_measured_on(device), *history, *_edited(rows, kernels, chosen, folder))
            for line in textwrap.wrap(text, _LINE)
        ],
        overview=_overview(levels[measured]),
        default_architecture=measured,
        library_includes=library_includes(chosen, folder),
        files=source_files(chosen, folder),
        operations_namespace=namespace(folder / _OPERATIONS_FILE, folder),
        operations=[entry.cxx for name, entry in OPERATIONS.items() if name in {kind.operation for kind in kinds}],
        levels=[
            {"architecture": architecture, "kinds": _specializations(choices, variants)}
            for architecture, choices in levels.items()
        ],
        multiprocessors=device["multiprocessors"],
        most_blocks=max(shape.blocks for shape in ordered),
        vector_bytes=VECTOR_BYTES,
        cluster_size=CLUSTER_SIZE,
        measured_kinds=[_text(kind) for kind in sorted(kinds, key=_order)],
        variants=[
            {
                "number": number,
                "namespace": namespace(variant.kernel.path, folder),
                "instantiation": variant.instantiation,
                "architecture": needed_architecture(variant.kernel),
            }
            for number, variant in enumerate(variants)
        ],
    )


def _levels(
    rows: pandas.DataFrame, kernels: Mapping[tuple[str, str], KernelSource], device: Mapping[str, Any]
) -> dict[int, _Choices]:
    """The choices by their smallest architecture, in decreasing order; 0 stands for any architecture."""
    if not has_times(device):
        raise UserError(f"{device_text(device)}: there are no times to choose by; a header needs a GPU's times.")
    offered = {name: kernel for name, kernel in kernels.items() if is_offered(kernel)}
    levels: dict[int, _Choices] = {}
    above: _Choices = {}
    for architecture in sorted({0, *map(needed_architecture, offered.values())}, reverse=True):
        choices = choose(rows, offered, device, architecture)
        if choices and _shapes(choices) == _shapes(above):
            levels[architecture] = levels.pop(min(levels))
        elif choices:
            levels[architecture] = above = choices
    if not levels:
        of_studies = ", ".join(sorted({study for study, _ in offered})) or "no study"
        raise UserError(
            f"{device_text(device)}: no kernel that leaves one value by one launch has a time. Such kernels have the "
            f"plan {' or '.join(ONE_VALUE_PLANS)}, and are in: {of_studies}. Measure them on a GPU with the same "
            "command and platform=gpu."
        )
    return levels


def _shapes(choices: _Choices) -> dict[ReductionKind, list[tuple[int, Shape]]]:
    """The chosen sizes and shapes alone."""
    return {kind: [(choice.array_size, choice.shape) for choice in of_kind] for kind, of_kind in choices.items()}


def _specializations(choices: _Choices, variants: Sequence[Variant]) -> list[dict[str, Any]]:
    """The specializations of detail::Choices with their arguments, and with rows or the name of an equal one."""
    found = []
    for kind, of_kind in sorted(choices.items(), key=lambda item: _order(item[0])):
        any_order = replace(kind, deterministic=False)
        same = kind.deterministic and choices.get(any_order) == of_kind
        found.append(
            {
                "name": _arguments(kind),
                "same_as": _arguments(any_order) if same else "",
                "rows": [_row(choice, kind, variants) for choice in of_kind],
            }
        )
    return found


def _arguments(kind: ReductionKind) -> str:
    """A kind as template arguments."""
    order = "Deterministic" if kind.deterministic else "AnyOrder"
    return f"{CXX_TYPES[kind.dtype]}, {OPERATIONS[kind.operation].cxx}, {kind.cache.capitalize()}, {order}"


def _row(choice: Choice, kind: ReductionKind, variants: Sequence[Variant]) -> str:
    """A choice as the members of a Configuration."""
    shape = choice.shape
    values = {"dtype": kind.dtype, "operation": kind.operation, "block_size": shape.block_size, "unroll": shape.unroll}
    shared_bytes = int(Expression(shape.kernel.shared_elements)(values)) * np.dtype(kind.dtype).itemsize
    members = (
        "SIZE_MAX" if choice.largest_size is None else choice.largest_size,
        f'"{shape.kernel.name}"',
        variants.index(_variant(shape)),
        shape.block_size,
        shape.unroll,
        shape.blocks,
        ONE_VALUE_PLANS[shape.kernel.plan],
        shared_bytes,
        choice.array_size,
        f"{choice.time.value:.3f}",
        f"{choice.bandwidth_gbs:.1f}",
    )
    return f"{{{', '.join(map(str, members))}}}"


def _variant(shape: Shape) -> Variant:
    return Variant(shape.kernel, shape.block_size, shape.unroll)


def _measured_on(device: Mapping[str, Any]) -> list[str]:
    capability = device.get("compute_capability")
    known = f"Compute capability {capability}, " if capability else ""
    return [f"{device_text(device)}. {known}{device['multiprocessors']} multiprocessors."]


def _edited(
    rows: pandas.DataFrame,
    kernels: Mapping[tuple[str, str], KernelSource],
    chosen: Sequence[KernelSource],
    folder: Path,
) -> list[str]:
    """A warning if kernels have been edited since they were measured, as is possible for a recording."""
    now = {kernel: source_sha256(kernel.path, included_files(kernel.path, [folder / "include"])) for kernel in chosen}
    measured = zip(rows["study"], rows["kernel"], rows["source_sha256"], strict=True)
    of_others = {
        kernel.name
        for study, name, digest in measured
        if (kernel := kernels.get((study, name))) in now and digest != now[kernel]
    }
    if not of_others:
        return []
    return [f"Edited since they were measured, so that times are an earlier text's: {', '.join(sorted(of_others))}."]


def _overview(choices: _Choices) -> list[str]:
    """The choices for readers, one line each."""
    lines = []
    for kind, of_kind in sorted(choices.items(), key=lambda item: _order(item[0])):
        if kind.deterministic and choices.get(replace(kind, deterministic=False)) == of_kind:
            continue
        lines += ["", f"{_text(kind)}:"]
        lines += [
            f"{choice.array_size:>15,}  {choice.time.value:>9,.2f} us  {choice.bandwidth_gbs:>6,.0f} GB/s  "
            f"{choice.shape.kernel.name} {choice.shape.block_size} x {choice.shape.unroll} in {choice.shape.blocks:,}"
            f" blocks, of {choice.compared} compared"
            for choice in of_kind
        ]
    return lines[1:]


def _text(kind: ReductionKind) -> str:
    """A kind in words."""
    return f"{kind.dtype} {kind.operation}, {kind.cache}{', deterministic' if kind.deterministic else ''}"


def _order(kind: ReductionKind) -> tuple[str, int, str, bool]:
    """A sort key: by type, then by the usual order of operations."""
    return (kind.dtype, list(OPERATIONS).index(kind.operation), kind.cache, kind.deterministic)
