"""What a build says of itself, kept beside its binary. Without the compilers' side, which takes its time to import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

# status (ok or build_failed), message (the compiler's where it failed, its warnings where it did not), target,
# compiler, and variants, each variant's resources by its C++ name.
Report = dict[str, Any]


def write_report(path: Path, report: Report) -> None:
    """Write a build report as JSON."""
    path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


def read_report(path: Path) -> Report:
    """Read a build report back."""
    report: Report = json.loads(path.read_text(encoding="utf-8"))
    return report
