"""What an edit changed in a kernel's source, in its machine code and in the resources that it takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kernelsweep.base.compilers import run_compiler
from kernelsweep.compile.toolkit import find_tool
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.judge.comparison.source import difference
from kernelsweep.judge.comparison.text import in_order, point_in_words
from kernelsweep.judge.comparison.verdicts import ComparedPoint, by_kernel

_RESOURCES = {
    "registers": "registers a thread",
    "shared_bytes": "static shared memory a block (bytes)",
    "spill_store_bytes": "stores of spilled registers a thread (bytes)",
    "spill_load_bytes": "loads of spilled registers a thread (bytes)",
}

# A line of cuobjdump: an address, an instruction, and its encoding. Addresses of jumps move with every instruction.
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
_JUMP = re.compile(r"(\b(?:BRA|BSSY|CALL|JMP|WARPSYNC)\b.*?)0x[0-9a-f]+")


def code_section(points: Sequence[ComparedPoint], store: UnitStore) -> str:
    """A section of Markdown on the kernels whose machine code differs; "" without one.

    store  has the units of both versions, and their sources, if this machine has compiled them
    """
    changed = [
        point
        for point in points
        if point.ratio and point.before and point.after and _binary(point.before) != _binary(point.after)
    ]
    if not changed:
        return ""
    functions = {entry["binary_sha256"]: (file, entry) for file, every in store.all() for entry in every.values()}
    parts = [_of_kernel(kernel, in_order(those)[0], functions, store) for kernel, those in by_kernel(changed).items()]
    return "\n".join(["## What changed in the code", "", *filter(None, parts)]) if any(parts) else ""


def _binary(row: Mapping[str, Any]) -> str:
    return str(row.get("binary_sha256") or "")


def _of_kernel(
    kernel: str, point: ComparedPoint, functions: Mapping[str, tuple[Path, Mapping[str, Any]]], store: UnitStore
) -> str:
    """A kernel's part of the section; the machine code is that of the point that moved farthest."""
    assert point.before and point.after, "it was compared"
    sources = [store.text(str(row["source_sha256"])) for row in (point.before, point.after)]
    units = [functions.get(_binary(row)) for row in (point.before, point.after)]
    lines = [f"### {kernel}", ""]
    if sources[0] and sources[1]:
        lines += _fenced("the source before", sources[0].splitlines(), sources[1].splitlines())
    if units[0] and units[1]:
        before, after = units[0][1], units[1][1]
        lines += [f"The point that moved farthest, {point_in_words(point)}:", ""]
        lines += ["| | before | after |", "|---|---:|---:|"]
        lines += [f"| {words} | {before.get(name, '')} | {after.get(name, '')} |" for name, words in _RESOURCES.items()]
        with ThreadPoolExecutor() as both:  # The tool takes its time.
            codes = [*both.map(lambda unit: _instructions(unit[0], str(unit[1]["symbol"])), (units[0], units[1]))]
        if codes[0] and codes[1]:
            lines += [f"| instructions in the machine code | {len(codes[0])} | {len(codes[1])} |", ""]
            lines += _fenced("the machine code before", *codes)
    return "\n".join([*lines, ""]) if len(lines) > 2 else ""


def _instructions(cubin: Path, symbol: str) -> list[str]:
    """The instructions of a function, without addresses; none where the toolkit has no cuobjdump."""
    tool = find_tool("cuobjdump")
    if not tool:
        return []
    listing = run_compiler([tool, "--dump-sass", "--function", symbol, str(cubin)]).stdout
    # NOPs fill the last line of the instruction cache.
    return [_JUMP.sub(r"\1...", found) for found in _INSTRUCTION.findall(listing) if found != "NOP"]


def _fenced(against: str, before: Sequence[str], after: Sequence[str]) -> list[str]:
    """A difference of lines as a block of Markdown, which a page unfolds."""
    return [f"```diff {against}", *difference(before, after), "```", ""]
