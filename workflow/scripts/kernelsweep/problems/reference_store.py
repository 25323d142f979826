"""Large inputs and references kept on disk: made once for a problem file and its data, and shared between processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.problems.array_values import ArrayValue


class ReferenceStore:
    """The arrays of one version of a problem file: a folder for each set of them, with a file for each array.

    What was cut is computed again.
    """

    def __init__(self, folder: Path, version: str) -> None:
        """A store in `folder`, which is that of one problem file only.

        version  SHA-256 of the file's code and data, in hexadecimal digits
        """
        self._folder = folder / version

    def load(self, key: Any, facts: dict[str, Any] | None = None) -> dict[str, ArrayValue] | None:
        """The arrays kept under a key, mapped into memory; None if there are none, or if a file is not as written.

        facts  gets what was kept beside the arrays
        """
        folder, arrays = self._of(key), {}
        try:
            kept = json.loads((folder / "shapes.json").read_text(encoding="utf-8"))
            for name, shape in kept["shapes"].items():
                contents = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
                if contents.ndim != 1 or not 0 < contents.size <= math.prod(shape):
                    return None
                arrays[name] = ArrayValue(contents.dtype, tuple(shape), contents)
            if facts is not None:
                facts |= kept["facts"]
            return arrays if kept["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError):
            return None

    def save(self, key: Any, arrays: Mapping[str, ArrayValue], facts: Mapping[str, Any] | None = None) -> None:
        """Keep arrays under a key, with facts of JSON's types, and delete what other versions of the file have left.

        Where the disk is full or can't be written, nothing is kept.
        """
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in self._folder.parent.iterdir():
                if other != self._folder and re.fullmatch("[0-9a-f]{64}", other.name):
                    shutil.rmtree(other, ignore_errors=True)
            part = Path(tempfile.mkdtemp(dir=self._folder, suffix=".part"))
            try:
                for name, array in arrays.items():
                    np.save(part / f"{name}.npy", array.elements, allow_pickle=False)
                shapes = {name: array.shape for name, array in arrays.items()}
                text = json.dumps({"key": key, "shapes": shapes, "facts": dict(facts or {})})
                (part / "shapes.json").write_text(text, encoding="utf-8")
                shutil.rmtree(self._of(key), ignore_errors=True)
                part.rename(self._of(key))
            finally:
                shutil.rmtree(part, ignore_errors=True)

    def _of(self, key: Any) -> Path:
        return self._folder / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
