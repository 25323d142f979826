"""A header of constants: what to use, and each kernel's fastest configuration by problem size, for C++ programs.

The constants can be template arguments, and sizes of blocks and grids, on the host and on the device. At the study's
reference point they are macros, too, for kernels that are compiled with macros.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelsweep.base.templates import environment
from kernelsweep.errors import UserError
from kernelsweep.judge.best.best_file import BestFile
from kernelsweep.judge.best.find import Best


def constants_header(best: BestFile, study: str, reference: Mapping[str, Any]) -> str:
    """The header's text.

    best       what best.json says
    study      the study
    reference  its reference point, by axis; the header has the configurations of its cache state

    Raises UserError if best.json has no configuration of the study.
    """
    entries = [one for one in best.entries if one.study == study and one.point.get("cache") == reference["cache"]]
    if not entries:
        reason = best.reason_for_none or f"No point with a {reference['cache']} cache has a time."
        raise UserError(f"There is no best configuration of {study} for a header. {reason}")
    template = environment(Path(__file__).parent, is_html=False).get_template("best_constants.h.j2")
    return template.render(
        study=study,
        reference=reference,
        device=str(best.device.get("name")),
        uses=[use for use in best.use if use.study == study and use.kind.items() <= reference.items()],
        kernels={
            kernel: [entry for entry in entries if entry.kernel == kernel]
            for kernel in dict.fromkeys(entry.kernel for entry in entries)
        },
        problem=_problem,
        comment=_comment,
        identifier=_identifier,
        literal=_literal,
        token=_token,
    )


def _problem(entry: Best) -> dict[str, Any]:
    """The axes that the inputs depend on, which the header's cache state is none of."""
    return {axis: value for axis, value in entry.point.items() if axis != "cache"}


# What a text may be that stands in C++ as it is: the name of a type or of an operation.
_NAME = re.compile(r"[A-Za-z_]\w*(?:(?: |::)[A-Za-z_]\w*)*", re.ASCII)
_PLAIN = re.compile(r"[ !#->@-\[\]-~]")  # in a literal: neither quote, question mark nor backslash


def _literal(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    bytes_of = value.encode("utf-8", "replace")
    return f'"{"".join(chr(one) if _PLAIN.match(chr(one)) else f"{chr(92)}{one:03o}" for one in bytes_of)}"'


def _token(value: Any) -> str:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else _literal(value)


def _comment(text: str) -> str:
    """A text that does not end its comment of one line, nor continue it on the next one."""
    return "".join(letter if letter.isprintable() and letter not in "\\?" else "_" for letter in text)


def _identifier(*texts: Any) -> str:
    """Texts as a C++ identifier."""
    return "_".join(re.sub(r"\W", "_", str(text), flags=re.ASCII) for text in texts)
