"""A compiled unit. Apart from builder.py, whose imports take long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class BuiltUnit:
    """A compiled unit: its binary, and the entries of a build's report for its functions and variants, by name."""

    file: Path
    variants: Mapping[str, Any]
