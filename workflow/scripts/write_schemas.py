"""Write the JSON schemas by which editors complete and check config.yaml, metrics.yaml and studies:

    uv run python workflow/scripts/write_schemas.py

They are made of the records in kernelsweep/sweep/settings.py. Run it after a change there.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from kernelsweep.home import HOME
from kernelsweep.sweep import settings

SCHEMAS = HOME / "workflow/schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by file name, with the fields' docstrings as descriptions."""
    told = _docstrings()
    found = {}
    for name, record in (("config", settings.Config), ("study", settings.StudyFile)):
        schema = record.model_json_schema()
        for title, node in ((record.__name__, schema), *schema["$defs"].items()):
            bases = [base.__name__ for base in getattr(settings, title).__mro__]
            for field, of_field in node.get("properties", {}).items():
                described = next((told[base, field] for base in bases if (base, field) in told), "")
                of_field |= {"description": described} if described else {}
                of_field.pop("title", None)
        found[f"{name}.schema.json"] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return found


def _docstrings() -> dict[tuple[str, str], str]:
    """The docstring under each field, by the names of its record and of its key."""
    told = {}
    for record in ast.parse(inspect.getsource(settings)).body:
        for field, text in zip(getattr(record, "body", ()), getattr(record, "body", ())[1:], strict=False):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    assert isinstance(record, ast.ClassDef)
                    key = getattr(settings, record.name).model_fields[name].alias or name
                    told[record.name, key] = " ".join(words.split())
    return told


if __name__ == "__main__":
    for file, schema in schemas().items():
        (SCHEMAS / file).write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
