"""The journal of a kernel's finished points, so that nothing measured is lost or measured twice.

One line of JSON a point, appended and flushed to the disk as soon as the point is done, under a key of what determines
it. A line that a crash left half-written is dropped when the journal is next opened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any


def journal_key(parts: Mapping[str, Any]) -> str:
    """The key of what determines a point: equal for equal parts, whatever their order."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Journal:
    """Finished points by key; a context manager that keeps its file open for appending."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._records: dict[str, Any] = {}
        whole = 0
        if path.exists():
            with path.open("rb") as file:
                for line in file:
                    if not line.endswith(b"\n"):  # Perhaps a whole record, but then it would be gone from the file.
                        break
                    try:
                        record = json.loads(line)
                        self._records[record["key"]] = record["value"]
                    except (ValueError, KeyError, TypeError):
                        break
                    whole += len(line)
            os.truncate(path, whole)
        self._file = path.open("a", encoding="utf-8")

    def get(self, key: str) -> Any | None:
        """What was recorded under a key, or None."""
        return self._records.get(key)

    def add(self, key: str, value: Any) -> None:
        """Record a finished point; on return it is on the disk."""
        self._records[key] = value
        self._file.write(json.dumps({"key": key, "value": value}) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
