"""Read config.yaml: checked, with defaults. And what a schema can't check, in config.yaml or in a study's file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.home import SCHEMAS
from kernelsweep.sweep.axes import read_values
from kernelsweep.sweep.expressions import CONDITION, check_kind, expression
from kernelsweep.sweep.schema import check
from kernelsweep.sweep.yaml_files import YamlMistake, parse_yaml

# How messages call the file.
CONFIG_FILE = "config/config.yaml (or --config)"


def study_names(root: Path) -> list[str]:
    """The names of the studies that have a file in config/studies/; hidden files are an editor's."""
    return sorted(path.stem for path in (root / "config/studies").glob("*.yaml") if not path.name.startswith("."))


def read_config(config: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Check config.yaml's content, including values from --config, and fill in the defaults.

    Raises UserError with file, key, value and what is allowed.
    """
    # Snakemake's --config passes texts: profile=true, axes='{n: [1024]}', measuring='{visits: 2, racing: true}'.
    passed = {key: config[key] for key in ("axes", "compare", "measuring", "profile", "sweeps") if key in config}
    written = {key: _as_value(value, key in ("measuring", "profile")) for key, value in passed.items()}
    schema = SCHEMAS / "config.schema.yaml"
    checked = check({**config, **written}, schema, CONFIG_FILE, {})
    known = study_names(root)
    checked["studies"] = checked["studies"] or known
    for name in checked["studies"]:
        if name not in known:
            guess = nearest(name, known) or ";"
            raise UserError(f"{CONFIG_FILE}: studies names {name!r}{guess} Known: {', '.join(known)}.")
    measuring = checked["measuring"]
    if measuring["max_samples"] < measuring["min_samples"]:
        raise UserError(
            f"{CONFIG_FILE}: measuring.max_samples is {measuring['max_samples']}. "
            f"Allowed: at least min_samples, {measuring['min_samples']}."
        )
    if checked["sweep"] == "quick":
        measuring["visits"] = measuring["quick_visits"]
    read_values(checked["axes"], f"{CONFIG_FILE}: axes")
    for key in ("sweeps", "platforms"):
        for name, place in checked[key].items():
            read_values(place if key == "sweeps" else place["axes"], f"{CONFIG_FILE}: {key}.{name}")
    for number, text in enumerate(checked["restrictions"]):
        try:
            expression(text)
        except UserError as error:
            raise UserError(f"{CONFIG_FILE}: restrictions.{number}: {error}") from error
    return checked


def _as_value(passed: Any, has_flags: bool) -> Any:
    """Numbers in place of the texts that are some, in lists and under keys; with `has_flags` also true and false."""
    if isinstance(passed, Mapping):
        return {name: _as_value(value, has_flags) for name, value in passed.items()}
    if isinstance(passed, list):
        return [_as_value(value, has_flags) for value in passed]
    try:
        value = parse_yaml(passed) if isinstance(passed, str) else passed
    except YamlMistake:
        return passed
    return value if isinstance(value, int | float) and (has_flags or not isinstance(value, bool)) else passed


def check_restrictions(settings: Mapping[str, Any], axes: Collection[str], shown: str, texts: Collection[str]) -> None:
    """Raise UserError if a restriction isn't a condition over these axes; `texts` are those whose values are texts."""
    for number, restriction in enumerate(settings["restrictions"]):
        try:
            check_kind(restriction, axes, CONDITION, texts)
        except UserError as error:
            raise UserError(f"{shown}: restrictions.{number}: {error}") from error
