"""Write the JSON schemas by which editors complete and check config.yaml, metrics.yaml and studies:

    uv run python workflow/scripts/write_schemas.py

They are made of the records in kernelsweep/study/settings.py. Run it after a change there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

sys.path.insert(0, str(Path(__file__).parent))
# Before the records are made. To read the docstrings takes 0.05 s, for which no other process has a use.
BaseModel.model_config["use_attribute_docstrings"] = True

from kernelsweep.home import HOME  # noqa: E402
from kernelsweep.study import settings  # noqa: E402

SCHEMAS = HOME / "workflow/schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """The schemas by file name."""
    found = {}
    for name, record in (("config", settings.Config), ("study", settings.StudyFile)):
        schema = record.model_json_schema()
        for node in (schema, *schema["$defs"].values()):
            for field in node.get("properties", {}).values():
                field.pop("title", None)
                if "description" in field:
                    field["description"] = " ".join(field["description"].split())
        found[f"{name}.schema.json"] = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return found


if __name__ == "__main__":
    for file, schema in schemas().items():
        (SCHEMAS / file).write_text(json.dumps(schema, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
