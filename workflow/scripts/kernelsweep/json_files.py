"""Read JSON that jobs or recordings left; a file may have been cut."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError

AGAIN = "The file was cut or edited: delete it, or restore it if it is no result, and type the same command again."


def read_json(path: str | Path) -> dict[str, Any]:
    """The object in a JSON file. Raises UserError, naming file and line, where there is none."""
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file.")
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}. {AGAIN}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON: {error}. {AGAIN}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected keys with values, found {type(content).__name__}. {AGAIN}")
    return content


def read_device(path: str | Path, studies: Iterable[str] = ()) -> dict[str, Any]:
    """The description of a device in device.json.

    studies  what is told of; where it is a single study, the description has what `by_study` says of it
    """
    device, names = read_json(path), list(studies)
    own = device.get("by_study", {}).get(names[0], {}) if len(names) == 1 else {}
    return {**device, **own}
