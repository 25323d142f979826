"""Read YAML files: config.yaml with its defaults, and any other as plain values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kernelsweep.errors import UserError, check_known
from kernelsweep.sweep.settings import Config

# How messages call the file.
CONFIG_FILE = "config/config.yaml (or --config)"

# LibYAML's where PyYAML was built with it: ten times as fast.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Plain YAML, where a key is a text that stands once, and a date is a text."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        there: set[str] = set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                continue
            shown = repr(key.value) if isinstance(key.value, str) else "a list or a mapping"
            if key.tag != "tag:yaml.org,2002:str":
                wrong = f"the key {shown} is no text. Write it in quotes if it is meant"
                raise yaml.constructor.ConstructorError(None, None, wrong, key.start_mark)
            if key.value in there:
                raise yaml.constructor.ConstructorError(None, None, f"the key {shown} stands twice", key.start_mark)
            there.add(key.value)
        values: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return values


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)


def parse_yaml(text: str, shown: str) -> Any:
    """The contents of a YAML text as plain values. Raises UserError with the line of a mistake."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise UserError(f"{shown}{line}: not valid YAML: {problem}.") from error
    except (ValueError, RecursionError, OverflowError) as error:  # Such as a number of 5,000 digits.
        raise UserError(f"{shown}: not valid YAML: {str(error).partition(';')[0]}.") from error


def read_yaml(path: Path, shown: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises UserError with the line if it is none."""
    try:
        data = parse_yaml(path.read_text(encoding="utf-8-sig"), shown)
    except OSError as error:
        raise UserError(f"{shown}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{shown}: not a text in UTF-8: {error.reason} at byte {error.start}.") from error
    if data is None:  # All keys are commented out.
        return {}
    if not isinstance(data, dict):
        raise UserError(f"{shown}: expected keys with values, found {type(data).__name__}")
    return data


def study_names(root: Path) -> list[str]:
    """The names of the studies that have a file in config/studies/; hidden files are an editor's."""
    return sorted(path.stem for path in (root / "config/studies").glob("*.yaml") if not path.name.startswith("."))


def read_config(config: Mapping[str, Any], root: Path) -> Config:
    """config.yaml's content with values from --config, checked, and with all studies where it names none.

    Raises UserError with file, key, value and what is allowed.
    """
    # Snakemake's --config passes texts: profile=true, axes='{n: [1024]}', measuring='{visits: 2}'.
    passed = {key: config[key] for key in ("axes", "compare", "measuring", "profile", "sweeps") if key in config}
    written = {key: _as_value(value, key == "profile") for key, value in passed.items()}
    checked = Config.read({**config, **written}, CONFIG_FILE)
    known = study_names(root)
    for name in checked.studies or ():
        check_known(name, known, f"{CONFIG_FILE}: studies names")
    measuring = checked.measuring
    if checked.sweep == "quick":
        measuring = measuring.changed(visits=measuring.quick_visits)
    return checked.changed(studies=checked.studies or known, measuring=measuring)


def _as_value(passed: Any, has_flags: bool) -> Any:
    """Numbers in place of the texts that are some, in lists and under keys; with `has_flags` also true and false."""
    if isinstance(passed, Mapping):
        return {name: _as_value(value, has_flags) for name, value in passed.items()}
    if isinstance(passed, list):
        return [_as_value(value, has_flags) for value in passed]
    try:
        value = parse_yaml(passed, "") if isinstance(passed, str) else passed
    except UserError:
        return passed
    return value if isinstance(value, int | float) and (has_flags or not isinstance(value, bool)) else passed
