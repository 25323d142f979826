"""Whether a kernel's files leave the macros alone that its settings define."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.home import HEADERS, HOME
from kernelsweep.sweep.kernels.leading_comments import line_number
from kernelsweep.sweep.kernels.source import included_files, read_source

_DEFINITION = r"^[ \t]*#[ \t]*define[ \t]+({name})\b"
_GUARD = r"^[ \t]*#[ \t]*(?:ifndef[ \t]+{name}\b|undef[ \t]+{name}\b|(?:el)?if\b.*\bdefined\b[ \t(]*{name}\b)"


def check_macros(names: Iterable[str], path: Path, where: str) -> None:
    """Raise UserError for a macro that a kernel's file, or a file that it includes, defines in any case.

    where  the kernel's place in messages

    The compilers only warn of that, and every variant would have the file's value.
    """
    texts: dict[Path, str] = {}
    for name in names:
        if not texts:
            folders = [path.parents[1] / "include", HOME / HEADERS]
            texts = {file: read_source(file) for file in (path, *included_files(path, folders))}
        for file, text in texts.items():
            defined = re.search(_DEFINITION.format(name=name), text, re.MULTILINE)
            if defined and not re.search(_GUARD.format(name=name), text, re.MULTILINE):
                line = line_number(text, defined.start(1))
                raise UserError(
                    f"{where}: macros has {name!r}, and {file.name}, line {line}, defines {name}, too: every variant "
                    f"would have that value. Delete the line, or put it between #ifndef {name} and #endif."
                )
