"""The report on a build, stored beside its binary. Apart from build.py, whose imports take long."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError
from kernelsweep.json_files import check_keys, read_json

# Its keys: status (ok, or build_failed where no variant compiles), message (the compiler's errors or warnings), target,
# compiler, variants, which has each variant's resources by its C++ name, and failed, the compiler's message by variant,
# where some don't compile and others do.
Report = dict[str, Any]


def new_report(target: str, compiler: str) -> Report:
    """The report on a build that has gone well so far."""
    return {"status": "ok", "message": "", "target": target, "compiler": compiler, "variants": {}, "failed": {}}


def write_report(path: Path, report: Report) -> None:
    """Write a build report as JSON."""
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def read_report(path: Path) -> Report:
    """Read a build report back. Raises UserError, naming file and key, where it is none."""
    report = read_json(path)
    keys = {"status": str, "message": str, "target": str, "compiler": str, "variants": dict, "failed": dict}
    check_keys(report, keys, path)
    if report["status"] not in ("ok", "build_failed"):
        raise UserError(f"{path}: status is {report['status']!r}. Allowed: ok, build_failed.")
    return report
