"""A compiled unit, as the process that loads it needs it.

Alone, because what this process imports is part of a measurement's identity, and the compiling is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class BuiltUnit:
    """A compiled unit: its binary, the entries of a build's report for its functions and variants, and warnings."""

    file: Path
    variants: Mapping[str, Any]
    warnings: str = ""
