"""What an edit changed in a kernel's source, in its machine code and in the resources that it takes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from kernelsweep.base.compilers import run_compiler
from kernelsweep.base.templates import markdown_table
from kernelsweep.compile.toolkit import find_tool
from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.judge.comparison.counts import (
    SAME_COUNTS,
    count_changes,
    counted_points,
    counted_rank,
    counted_verdict,
)
from kernelsweep.judge.comparison.source import changed_lines, difference
from kernelsweep.judge.comparison.text import in_order, values_in_words
from kernelsweep.judge.comparison.verdicts import ComparedPoint, by_kernel, in_order_of_verdict

_RESOURCES = {
    "registers": "registers a thread",
    "shared_bytes": "static shared memory a block (bytes)",
    "spill_store_bytes": "stores of spilled registers a thread (bytes)",
    "spill_load_bytes": "loads of spilled registers a thread (bytes)",
}

# A line of cuobjdump: an address, an instruction, and its encoding. Addresses of jumps move with every instruction.
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;")
_JUMP = re.compile(r"(\b(?:BRA|BSSY|CALL|JMP|WARPSYNC)\b.*?)0x[0-9a-f]+")


def code_section(
    points: Sequence[ComparedPoint],
    margin: float,
    store: UnitStore,
    pictured: Mapping[str, Sequence[str]],
    folder: Path,
) -> str:
    """A section of Markdown on the kernels whose machine code differs, in the verdict's order; "" without one.

    store     has the units of both versions, their sources, and pictures of their accesses, if this machine made them
    pictured  by kernel, the step whose accesses are drawn, and where
    folder    in which those of both versions are written
    """
    counted = {id(point) for of_kernel in counted_points(points).values() for point in of_kernel}
    changed = [
        point
        for point in points
        if point.before and point.after and _binary(point.before) != _binary(point.after)
        if point.ratio or id(point) in counted or point.has_failed_since
    ]
    timed = [(point.before, point.after) for point in changed if point.ratio]
    functions = store.functions({_binary(row) for both in timed for row in both if row})
    parts = []
    kernels = by_kernel(changed)
    judged = [*in_order_of_verdict(by_kernel(point for point in changed if point.ratio), margin)]

    def place(kernel: str) -> tuple[bool, int]:
        rank = judged.index(kernel) if kernel in judged else counted_rank(kernels[kernel])
        return not any(point.has_failed_since for point in kernels[kernel]), rank

    for kernel, of_kernel in sorted(kernels.items(), key=lambda item: place(item[0])):
        point = in_order(of_kernel)[0]
        before, after = _sources(point, store)
        lines = _fenced("The source", before.splitlines(), after.splitlines()) if before and after != before else []
        lines += _of_accesses(of_kernel, store, pictured.get(kernel, ("", "")), folder)
        lines += _of_machine_code(point, of_kernel, functions) if point.ratio else []
        parts += [f"### {kernel}", "", *lines, ""] if lines else []
    return "\n".join(["## What changed in the code", "", *parts]) if parts else ""


def changes_of_failed(points: Sequence[ComparedPoint], store: UnitStore) -> list[str]:
    """For the terminal, the lines of each kernel that failed which changed since it was right."""
    failed = by_kernel(point for point in points if point.has_failed_since)
    texts = [[text.splitlines() for text in _sources(first, store)] for first, *_ in failed.values()]
    return [line for both in texts if all(both) for line in changed_lines(difference(both[0], both[1], context=0))]


def _binary(row: Mapping[str, Any]) -> str:
    return str(row.get("binary_sha256") or "")


def _hashes(point: ComparedPoint) -> list[str]:
    return [str((side or {}).get("source_sha256") or "") for side in (point.before, point.after)]


def _sources(point: ComparedPoint, store: UnitStore) -> list[str]:
    return [store.text(text_name(point.row["study"], point.row["kernel"], source)) for source in _hashes(point)]


def _of_accesses(
    of_kernel: Sequence[ComparedPoint], store: UnitStore, pictured: Sequence[str], folder: Path
) -> list[str]:
    """Who accesses what, before and after, as pictures that are written to `folder`.

    Pictures are of a few warps at one point: equal ones are told only if nothing else differs.
    """
    point, (step, where) = in_order(of_kernel)[0], pictured
    sources = dict.fromkeys(_hashes(point))
    before, *others = (store.text(text_name(point.row["study"], step, source, "accesses")) for source in sources)
    after = others[0] if others else ""
    if not (before and after):
        return []
    if before == after:
        is_same = counted_verdict(count_changes(of_kernel)) == SAME_COUNTS and not any(one.fails for one in of_kernel)
        same = f"In the first blocks ({where}), the same lanes access the same elements before and after the edit."
        return [same, ""] if is_same else []
    folder.mkdir(exist_ok=True)
    links = []
    for side, picture in {"before": before, "after": after}.items():
        file = folder / f"{point.row['study']}-{step}-{side}.svg"
        file.write_text(picture, encoding="utf-8")
        links.append(f"![Who accesses what in {step}, {side} the edit]({folder.name}/{file.name})")
    bold = "Bold: another order of accesses would cost less."
    return [f"Who accesses what, before the edit and after it. A colour is a warp. {bold}", "", *links, ""]


def _of_machine_code(
    point: ComparedPoint, of_kernel: Sequence[ComparedPoint], functions: Mapping[str, tuple[Path, Mapping[str, Any]]]
) -> list[str]:
    """The resources and the machine code of the point that moved farthest."""
    assert point.before and point.after, "it was compared"
    before, after = (functions.get(_binary(row)) for row in (point.before, point.after))
    if not (before and after):
        return []
    rows = [[words, *(str(side[1].get(name, "")) for side in (before, after))] for name, words in _RESOURCES.items()]
    with ThreadPoolExecutor() as both:  # The tool takes its time.
        codes = [*both.map(lambda unit: _instructions(unit[0], str(unit[1]["symbol"])), (before, after))]
    if all(codes):
        rows.append(["instructions in the machine code", *map(str, map(len, codes))])
    table = markdown_table({"": False, "before": True, "after": True}, rows)
    ratio = f"{point.ratio.value:.3f}×" if point.ratio else ""
    where = f"{point.kernel}, {values_in_words(point, of_kernel)}"
    lines = [f"The point that moved farthest, to {ratio}, {where}:", "", table, ""]
    return [*lines, *(_fenced("The machine code", *codes) if all(codes) else [])]


def _instructions(cubin: Path, symbol: str) -> list[str]:
    """The instructions of a function, without addresses; none where the toolkit has no cuobjdump."""
    tool = find_tool("cuobjdump")
    if not tool:
        return []
    listing = run_compiler([tool, "--dump-sass", "--function", symbol, str(cubin)]).stdout
    # NOPs fill the last line of the instruction cache.
    return [_JUMP.sub(r"\1...", found) for found in _INSTRUCTION.findall(listing) if found != "NOP"]


def _fenced(title: str, before: Sequence[str], after: Sequence[str]) -> list[str]:
    """A difference of lines as a block of Markdown, which a page unfolds."""
    return [f"```diff {title}, before and after", *difference(before, after), "```", ""]
