"""Records of settings: checked by pydantic as they are read, with a message in a user's words for each mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from kernelsweep.errors import UserError, nearest, shown_value


class SettingsRecord(BaseModel):
    """Checked settings that nobody changes. Texts are no numbers, 256.0 is no whole number, and true is neither."""

    # What stands in for required fields that a job wasn't given, until they are deleted.
    stand_ins: ClassVar[Mapping[str, Any]] = {}

    # The docstrings under fields are what editors show.
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @classmethod
    def read(cls, data: Mapping[str, Any], shown: str) -> Self:
        """The record of what a file says; `shown` is the file. Raises UserError with all mistakes, one a line."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise UserError("\n".join(_mistakes(error, data, shown, cls.model_json_schema()))) from error

    @classmethod
    def of_job(cls, values: Mapping[str, Any]) -> Self:
        """The record of a job's parameters, which were checked before. A field that the job wasn't given is missing."""
        missing = [name for name, field in cls.model_fields.items() if (field.alias or name) not in values]
        record = cls.model_validate({**cls.stand_ins, **values})
        for name in missing:
            del record.__dict__[name]
        return record

    def values(self, *names: str) -> dict[str, Any]:
        """The fields, or these alone, as plain values, which Snakemake can keep and compare."""
        return self.model_dump(by_alias=True, include={*names} if names else None)

    def changed(self, **fields: Any) -> Self:
        """A copy with other values of some fields, which have to be right."""
        return self.model_copy(update=fields)


def _mistakes(error: ValidationError, data: Any, shown: str, schema: Mapping[str, Any]) -> list[str]:
    """A sentence for each key with a mistake: the file, the key, its value, and what is allowed."""
    told: dict[str, str] = {}
    for one in error.errors(include_url=False):
        value, parent, node, path = data, schema, schema, []
        for part in one["loc"]:  # Other parts name a branch of a union, or a key that is missing.
            there: Any = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
            if part in there:
                value, parent, node = value[part], node, _child(node, part, schema)
                path.append(str(part))
        kind, last = one["type"], str(one["loc"][-1]) if one["loc"] else ""
        if kind == "extra_forbidden":
            known = list(_resolved(parent, schema).get("properties", {}))
            under = f" under {'.'.join(path[:-1])}" if path[1:] else ""
            guess = nearest(last, known) or ";"
            told[".".join(path)] = f"unknown key {last!r}{under}{guess} Known keys: {', '.join(known)}."
            continue
        key = ".".join(path) or "the file"
        if kind == "missing":
            told[f"{key}.{last}"] = f"{key} lacks the key {last!r}."
        elif kind == "value_error":  # Its text continues the key.
            told[key] = f"{'.'.join(path)}{one['ctx']['error']}"
        else:
            told[key] = f"{key} is {shown_value(value)}{_allowed(one, value, _resolved(node, schema))}"
    # Of the branches of a union, the one that got furthest.
    furthest = [text for key, text in told.items() if not any(other.startswith(f"{key}.") for other in told)]
    return [f"{shown}: {text}" for text in furthest]


# pydantic's words for types, and those of a file's writer.
_IN_WORDS = {
    "model_type": "keys with values",
    "dict_type": "keys with values",
    "bool_type": "true or false",
    "string_type": "a text",
    "int_type": "a whole number",
    "list_type": "a list",
}


def _allowed(error: Any, value: Any, node: Mapping[str, Any]) -> str:
    """The end of a message: the nearest word where one of a few is needed, and what is allowed."""
    options = (node, *node.get("anyOf", ()))
    if words := [str(word) for option in options for word in option.get("enum", ())]:
        return f"{nearest(str(value), words) or ';'} Allowed: {', '.join(words)}."
    such_as = " or ".join(dict.fromkeys(str(one) for option in options for one in option.get("examples", ())))
    wanted = re.sub(r"^\w+ should (be |have )?(a valid )?", "", error["msg"])
    wanted = "texts" if error["type"] == "string_pattern_mismatch" else _IN_WORDS.get(error["type"], wanted)
    keys = f", of {', '.join(node['properties'])}" if "properties" in node else ""
    return f". Allowed: {wanted}{keys}{f', such as {such_as}' if such_as else ''}."


def _resolved(node: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while isinstance(node, Mapping) and "$ref" in node:
        node = {**schema["$defs"][node["$ref"].rpartition("/")[2]], **{k: v for k, v in node.items() if k != "$ref"}}
    return node if isinstance(node, Mapping) else {}


def _child(node: Any, part: str | int, schema: Mapping[str, Any]) -> Any:
    """The schema of a key's value, or of a list's item."""
    whole = _resolved(node, schema)
    for option in (whole, *(_resolved(one, schema) for one in whole.get("anyOf", ()))):
        names = option.get("properties", {})
        child = option.get("items") if isinstance(part, int) else names.get(part, option.get("additionalProperties"))
        if child:
            return child
    return {}
