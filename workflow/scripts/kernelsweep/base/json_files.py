"""Read JSON that jobs or recordings left, and check it: a file may have been cut or edited."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from kernelsweep.base.plain_files import read_text
from kernelsweep.errors import UserError, shown_value

Value = TypeVar("Value")

# The keys that every description of a device has, with their types.
_DEVICE: Mapping[str, type | tuple[type, ...]] = {
    "platform": str,
    "kind": str,
    "name": str,
    "multiprocessors": int,
    "provenance": str,
}
_BY_STUDY = TypeAdapter(dict[str, dict[str, Any]])

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


def checked(content: Any, adapter: TypeAdapter[Value], shown: str | Path, strict: bool = False) -> Value:
    """What an adapter makes of the content of a file. Raises UserError, naming file and key, for another content.

    strict  whether a text is no number, and a number no text
    """
    try:
        return adapter.validate_python(content, strict=strict)
    except ValidationError as error:
        first = error.errors()[0]
        words = filter(None, (str(shown), ".".join(map(str, first["loc"])), first["msg"]))
        raise UserError(f"{': '.join(words)}. {AGAIN}") from error


def check_keys(content: Mapping[str, Any], types: Mapping[str, type | tuple[type, ...]], shown: str | Path) -> None:
    """Raise UserError, naming file and key, for a key that is missing or has a value of another type."""
    for key, expected in types.items():
        if key not in content:
            raise UserError(f"{shown}: lacks the key {key!r}. {AGAIN}")
        if not isinstance(content[key], expected) or isinstance(content[key], bool):
            raise UserError(f"{shown}: {key} is {shown_value(content[key])}, a value of another type. {AGAIN}")


def read_device(path: str | Path, studies: Iterable[str] = ()) -> dict[str, Any]:
    """The description of a device in device.json. Raises UserError, naming file and key, where it is none.

    studies  what is told of; where it is a single study, the description has what `by_study` says of it
    """
    device = read_json(path)
    check_device(device, path)
    names = list(studies)
    by_study = checked(device.get("by_study", {}), _BY_STUDY, f"{path}: by_study")
    own = by_study.get(names[0], {}) if len(names) == 1 else {}
    return {**device, **own}


def check_device(device: Any, shown: str | Path) -> None:
    """Raise UserError, naming file and key, for a file that does not describe a device."""
    if not isinstance(device, dict):
        raise UserError(f"{shown}: device is no object. {AGAIN}")
    check_keys(device, _DEVICE, shown)
    if not device["name"].isprintable() or not device["name"].strip():
        raise UserError(f"{shown}: name is {shown_value(device['name'])}. Allowed: the device's name, in one line.")
    if not re.fullmatch(r"\d+\.\d+", str(capability := device.get("compute_capability") or "0.0")):
        raise UserError(f"{shown}: compute_capability is {shown_value(capability)}. Allowed: such as 9.0.")
    for key in ("multiprocessors", "peak_bandwidth_gbs", "multiprocessor_clock_mhz", "memory_bytes", "l2_bytes"):
        value = device.get(key)
        if value is not None and not (isinstance(value, int | float) and 0 < value < 2**63):
            raise UserError(f"{shown}: {key} is {shown_value(value)}. Allowed: numbers above 0.")
