"""Write JSON, and read what jobs or recordings left, and check it: a file may have been cut or edited."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kernelsweep.base.plain_files import read_text
from kernelsweep.errors import UserError

AGAIN = "The file was cut or edited: delete it, or restore it if it is no result, and type the same command again."


def read_json(path: str | Path) -> dict[str, Any]:
    """The object in a JSON file. Raises UserError, naming file and line, where there is none."""
    if not Path(path).is_file():
        raise UserError(f"{path}: no such file.")
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}. {AGAIN}") from error
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON: {error}. {AGAIN}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: expected keys with values, found {type(content).__name__}. {AGAIN}")
    return content


@cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    """What makes values of a type. To make it takes up to 20 ms, which forks are spared where they find it made."""
    return TypeAdapter(kind)


def read_record(path: str | Path, kind: Any, **further: Any) -> Any:
    """The value of a type in a JSON file. Raises UserError, naming file and key, for another content.

    further  keys and values that the file lacks
    """
    try:
        return adapter_of(kind).validate_python(read_json(path) | further)
    except ValidationError as error:
        raise UserError(f"{path}: {first_mistake(error)}. {AGAIN}") from error


def write_json(path: str | Path, content: Any) -> None:
    """Write what JSON can say into a file, in lines; its folder is made."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).unlink(missing_ok=True)  # It may be a pipe, which would wait for a reader.
    Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def first_mistake(error: ValidationError) -> str:
    """The first of the mistakes in words, after its key."""
    first = error.errors()[0]
    return ": ".join(filter(None, (".".join(map(str, first["loc"])), first["msg"])))
