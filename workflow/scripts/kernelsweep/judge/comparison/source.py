"""What an edit changed in a kernel's source: in the file, or since its points were right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from operator import attrgetter
from pathlib import Path
from textwrap import dedent

from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.judge.comparison.sides import name_of, read_records
from kernelsweep.results import Row, point_columns
from kernelsweep.sweep.journal import journals_of

# A difference shows this many lines and counts the others.
_MOST_LINES = 300
_LISTED_LINES = 6  # in the terminal

# What source_text() puts above each file. Within a comment of several lines it is a word of the file's own.
_FILE = re.compile(r"// (\S+\.\w+)")


def difference(before: Sequence[str], after: Sequence[str], context: int = 3) -> list[str]:
    """The lines of a difference of two texts, the first `_MOST_LINES` of them.

    Each part begins with `@@ axpy/axpy.cu:26 @@`: its file, as source_text() names it, and the first changed line.
    """
    lines = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(context):
        changed = next(start for tag, _, _, start, _ in group if tag != "equal")
        lines.append(f"@@ {_place(after, changed)} @@")
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                lines += [f" {line}" for line in after[new_start:new_end]]
                continue
            lines += [f"-{line}" for line in before[start:end]]
            lines += [f"+{line}" for line in after[new_start:new_end]]
    more = [f"... {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return [*lines[:_MOST_LINES], *more]


def _place(lines: Sequence[str], index: int) -> str:
    """A line of a text, from 0, as `axpy/axpy.cu:26`; in a text without names of files, `line 26`."""
    for above in range(min(index, len(lines) - 1), -1, -1):
        if (found := _FILE.fullmatch(lines[above])) and not (above and lines[above - 1].startswith("//")):
            return f"{found[1]}:{max(1, index - above)}"
    return f"line {index + 1}"


def changed_lines(difference: Sequence[str]) -> list[str]:
    """The first lines of a difference, which names files, for the terminal, below a sentence; none of an empty one."""
    lines = [line for line in difference if line[0] in "+-" and line[1:].strip()]
    body = dedent("\n".join(line[1:] for line in lines)).splitlines()
    shown = [f"    {line[0]} {text}" for line, text in zip(lines, body, strict=True)][:_LISTED_LINES]
    more = ["    ..."] if lines[_LISTED_LINES:] else []
    files = dict.fromkeys(line.split()[1].partition(":")[0] for line in difference if line.startswith("@@ "))
    return [f"  Changed since it was right: {', '.join(files)}", *shown, *more] if files else []


def since_right(row: Row, results: Path, store: UnitStore) -> list[str]:
    """What changed in a kernel's source since a point was right, as difference(); empty where that isn't known.

    If its problem has changed, the first line is `@@ kernels/axpy/problem.py @@`.

    row      the point's, of measurements.csv
    results  the folder with the journals
    """
    # If the launch plan sets the grid size, rows have it but the journal's points don't.
    names = {name_of({**row, **grid})[2:] for grid in ({}, {"grid_size": None})}
    records = read_records(journals_of(results / f"journal/{row['study']}/{row['kernel']}.jsonl"))
    right = [one for one in records.values() if one.right and name_of(point_columns(one.point))[2:] in names]
    latest, now = max(right, default=None, key=attrgetter("place")), records.get(row["identity_sha256"])
    if latest is None:
        return []
    lines = []
    if now and any(latest.version.get(key) != now.version.get(key) for key in ("problem", "problem_files")):
        lines = [f"@@ {now.version['problem']['file']} @@"]
    sources = latest.source, row["source_sha256"]
    before, after = (store.text(text_name(row["study"], row["kernel"], source)) for source in sources)
    return [*lines, *(difference(before.splitlines(), after.splitlines(), context=0) if before and after else ())]
