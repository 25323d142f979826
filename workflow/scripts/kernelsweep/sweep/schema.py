"""Check data from a YAML file against a schema: fill in the defaults, and report a mistake in one readable error."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernelsweep.errors import UserError, nearest
from kernelsweep.sweep.yaml_files import check_values, read_yaml

if TYPE_CHECKING:
    import jsonschema

_LONGEST_SHOWN = 120  # characters of a value in a message


@cache
def _validator_class() -> Any:
    """jsonschema's validator, but for integers: it accepts 256.0, and C++ would then get block_size = 256.0u."""
    # Nearly every job imports this module, and few check anything.
    import jsonschema

    plain = jsonschema.Draft202012Validator
    integers = plain.TYPE_CHECKER.redefine(
        "integer", lambda checker, value: isinstance(value, int) and not isinstance(value, bool)
    )
    return jsonschema.validators.extend(plain, type_checker=integers)  # type: ignore[no-untyped-call]


def check(data: Mapping[str, Any], schema_path: Path, shown: str, known: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """A copy of `data` with the schema's defaults filled in.

    known  the names that the code knows, by kind: `x-known: operations` in the schema allows known["operations"]

    Raises UserError for the first mistake, with the file as `shown`, the key, its value, and the allowed values.
    """
    schema = _read_schema(schema_path, tuple((kind, tuple(names)) for kind, names in known.items()))
    validator = _validator_class()(schema)
    check_values(data, shown)
    completed = copy.deepcopy(dict(data))
    errors = sorted(validator.iter_errors(completed), key=lambda error: [str(part) for part in error.absolute_path])
    if errors:
        raise UserError(_message(_innermost(errors[0]), shown))
    _fill_defaults(completed, schema)
    return completed


def _innermost(error: jsonschema.ValidationError) -> jsonschema.ValidationError:
    """The error of the failed branch of an anyOf that got furthest into the data; else the error itself."""
    while error.context and error.validator != "anyOf":
        error = error.context[0]
    if error.context:
        deepest = max(error.context, key=lambda branch: len(branch.absolute_path))
        if len(deepest.absolute_path) > len(error.absolute_path):
            return _innermost(deepest)
    return error


def _message(error: jsonschema.ValidationError, shown: str) -> str:
    key = ".".join(str(part) for part in error.absolute_path) or "the file"
    schema = error.schema if isinstance(error.schema, Mapping) else {}
    instance: Any = error.instance
    expected: Any = error.validator_value
    if error.validator == "additionalProperties":
        known = list(schema.get("properties", {}))
        unknown = next(name for name in instance if name not in known)
        where = "" if key == "the file" else f" under {key}"
        guess = nearest(str(unknown), known) or ";"
        return f"{shown}: unknown key {_short(unknown)}{where}{guess} Known keys: {', '.join(known)}."
    if error.validator == "required":
        missing = next(name for name in expected if name not in instance)
        return f"{shown}: {key} lacks the key {missing!r}."
    if error.validator == "enum":
        allowed = ", ".join(str(value) for value in expected)
        guess = nearest(str(instance), [str(value) for value in expected])
        return f"{shown}: {key} is {_short(instance)}{guess or ';'} Allowed: {allowed}."
    allowed = schema.get("x-allowed") or _described(schema) or error.message
    return f"{shown}: {key} is {_short(instance)}. Allowed: {allowed}."


def _short(value: Any) -> str:
    """A value as a message shows it: of a long one, the beginning."""
    text = repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _described(schema: Mapping[str, Any]) -> str | None:
    """The values that a schema allows, if its type or its items say that in a few words."""
    if schema.get("type") == "object" and "properties" in schema:
        return f"keys with values, of {', '.join(schema['properties'])}"
    if schema.get("type") == "object":
        return "keys with values"
    if schema.get("type") == "boolean":
        return "true or false"
    if "enum" in schema.get("items", {}):
        return f"a list of {', '.join(str(value) for value in schema['items']['enum'])}"
    return None


# Every kernel's header is checked by the same schema.
@cache
def _read_schema(path: Path, known: tuple[tuple[str, tuple[str, ...]], ...]) -> dict[str, Any]:
    """A schema in which each `x-known: KIND` is an enum of the known names of that kind.

    Each `$ref: FILE` is replaced by that file's content; the keys beside the reference win.
    """
    names = dict(known)

    def resolved(node: Any) -> Any:
        if isinstance(node, dict):
            node = {key: resolved(value) for key, value in node.items()}
            if "x-known" in node:
                node["enum"] = list(names[node.pop("x-known")])
            if "$ref" in node:
                node = {**_read_schema(path.parent / node.pop("$ref"), known), **node}
        elif isinstance(node, list):
            node = [resolved(item) for item in node]
        return node

    schema: dict[str, Any] = resolved(read_yaml(path, path.name))
    schema.pop("$schema", None)  # Otherwise jsonschema would use its own validator, with its own integers.
    return schema


def _fill_defaults(data: Any, schema: Mapping[str, Any]) -> None:
    """Fill in defaults, in place, for the schema's properties."""
    if isinstance(data, dict):
        properties = schema.get("properties", {})
        for name, subschema in properties.items():
            if name not in data and "default" in subschema:
                data[name] = copy.deepcopy(subschema["default"])
            if name in data:
                _fill_defaults(data[name], subschema)
        extra = schema.get("additionalProperties")
        if isinstance(extra, Mapping):
            for name, value in data.items():
                if name not in properties:
                    _fill_defaults(value, extra)
    if isinstance(data, list) and isinstance(schema.get("items"), Mapping):
        for item in data:
            _fill_defaults(item, schema["items"])
