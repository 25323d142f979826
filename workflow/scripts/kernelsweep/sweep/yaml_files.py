"""Read YAML: plain values, one readable error for a mistake, and no key twice."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kernelsweep.errors import UserError

# LibYAML's where PyYAML was built with it: a start reads a file and a header for each kernel, ten times as fast so.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"

_LARGEST_NUMBER = 2**63
_LONGEST_TEXT = 4_000  # characters, as a long description of a study has


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Plain YAML, where a key is a text that stands once, and a date is a text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        there: set[str] = set()
        for key_node, _ in node.value:
            if key_node.tag == _MERGE:
                continue
            if key_node.tag != "tag:yaml.org,2002:str":
                written = getattr(key_node, "value", "")
                shown = repr(written) if isinstance(written, str) else "a list or a mapping"
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {shown} is no text. Write it in quotes if it is meant", key_node.start_mark
                )
            if key_node.value in there:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key_node.value!r} stands twice", key_node.start_mark
                )
            there.add(key_node.value)
        values: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return values


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in _SafeLoader.yaml_implicit_resolvers.items()
}


class YamlMistake(Exception):
    """A mistake in a YAML text.

    line  the line, from 0; None where none is known
    """

    def __init__(self, problem: str, line: int | None) -> None:
        super().__init__(problem)
        self.line = line


def parse_yaml(text: str) -> Any:
    """The contents of a YAML text as plain values. Raises YamlMistake."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise YamlMistake(getattr(error, "problem", None) or str(error), mark.line if mark else None) from error
    except (ValueError, RecursionError, OverflowError) as error:  # Such as a number of 5,000 digits.
        raise YamlMistake(str(error).partition(";")[0], None) from error


def read_yaml(path: Path, shown: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises UserError with the line if it is none, or with a value that no key allows."""
    try:
        if path.exists() and not path.is_file():
            raise UserError(f"{shown} is no file. Move it away.")
        data = parse_yaml(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UserError(f"{shown}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{shown}: not a text in UTF-8: {error.reason} at byte {error.start}.") from error
    except YamlMistake as error:
        line = "" if error.line is None else f", line {error.line + 1}"
        raise UserError(f"{shown}{line}: not valid YAML: {error}.") from error
    if not isinstance(data, dict):
        raise UserError(f"{shown}: expected keys with values, found {type(data).__name__}")
    try:
        check_values(data, shown)
    except RecursionError as error:
        raise UserError(f"{shown}: a value contains itself, by an anchor and its alias. Write it out.") from error
    return data


def check_values(value: Any, shown: str, keys: tuple[str, ...] = ()) -> None:
    """Raise UserError for what no key allows: numbers that aren't finite or are absurdly large, and endless texts.

    keys  the value's place in the file
    """
    where = f"{shown}: {'.'.join(keys)}"
    if isinstance(value, float) and not math.isfinite(value):
        raise UserError(f"{where} is {value}. Allowed: finite numbers.")
    if isinstance(value, int | float) and abs(value) > _LARGEST_NUMBER:
        raise UserError(f"{where} is a number above 2^63. Allowed: smaller ones.")
    if isinstance(value, str) and len(value) > _LONGEST_TEXT:
        raise UserError(f"{where} is a text of {len(value):,} characters. Allowed: at most {_LONGEST_TEXT:,}.")
    children = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        check_values(child, shown, (*keys, str(name)))
