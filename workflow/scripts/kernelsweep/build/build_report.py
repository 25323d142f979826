"""The report on a build, stored beside its binary. Apart from build.py, whose imports take long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.json_files import check_keys, read_json

# Its keys: status (ok or build_failed), message (the compiler's errors or warnings), target, compiler, and variants,
# which has each variant's resources by its C++ name.
Report = dict[str, Any]


def new_report(target: str, compiler: str) -> Report:
    """The report on a build that has gone well so far."""
    return {"status": "ok", "message": "", "target": target, "compiler": compiler, "variants": {}}


def write_report(path: Path, report: Report) -> None:
    """Write a build report as JSON."""
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def read_report(path: Path) -> Report:
    """Read a build report back. Raises UserError, naming file and key, where it is none."""
    report = read_json(path)
    check_keys(report, {"status": str, "message": str, "target": str, "compiler": str, "variants": dict}, path)
    if report["status"] not in ("ok", "build_failed"):
        raise UserError(f"{path}: status is {report['status']!r}. Allowed: ok, build_failed.")
    return report
