"""References kept on disk: computed once for a problem file and its data, and read back without a copy in memory."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import mmap
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import numpy as np

from kernelsweep.problems.array_values import ArrayValue

# The bytes that a thread hashes at once. A job that holds a GPU hashes hundreds of megabytes before its first point.
_BLOCK = 2**24


class ReferenceStore:
    """The references of one version of a problem file.

    An array is a file that is called after the hash of its content; a list says which arrays a reference has. Whatever
    was cut or edited is computed again.
    """

    def __init__(self, folder: Path, version: str) -> None:
        """A store in `folder`, which holds the references of one problem file only.

        version  SHA-256 of the file's code and data, in hexadecimal digits
        """
        self._folder = folder / version

    def load(self, key: Any) -> dict[str, ArrayValue] | None:
        """The arrays kept under a key, mapped into memory; None if there are none, or if a file is not as written."""
        try:
            kept = json.loads(self._list(key).read_text(encoding="utf-8"))
            if kept["key"] != key:
                return None
            return {name: self._array(entry) for name, entry in kept["arrays"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError):
            return None

    def save(self, key: Any, arrays: Mapping[str, ArrayValue]) -> None:
        """Keep arrays under a key, and delete what other versions of the file have left.

        Where the disk is full or can't be written, nothing is kept.
        """
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in self._folder.parent.iterdir():
                if other != self._folder and re.fullmatch("[0-9a-f]{64}", other.name):
                    shutil.rmtree(other, ignore_errors=True)
            entries = {name: self._keep(array) for name, array in arrays.items()}
            text = json.dumps({"key": key, "arrays": entries})
            self._write(lambda file: file.write(text.encode()), self._list(key).name)

    def _list(self, key: Any) -> Path:
        digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        return self._folder / f"{digest}.json"

    def _array(self, entry: Mapping[str, Any]) -> ArrayValue:
        """The array that an entry of a list names. Raises OSError or ValueError if its file is not as written."""
        path, shape = self._folder / f"{entry['hash']}.npy", tuple(entry["shape"])
        if _hash_of(path) != entry["hash"]:
            raise ValueError(f"{path} was edited")
        contents = np.load(path, mmap_mode="r", allow_pickle=False)
        if contents.ndim != 1 or not 0 < contents.size <= math.prod(shape):
            raise ValueError(f"{path} has another shape")
        return ArrayValue(contents.dtype, shape, contents)

    def _keep(self, array: ArrayValue) -> dict[str, Any]:
        digest = self._write(lambda file: np.save(file, array.elements, allow_pickle=False))
        return {"hash": digest, "shape": array.shape}

    def _write(self, write: Callable[[IO[bytes]], Any], name: str | None = None) -> str:
        """Write a file, whole or not at all, and return its hash, which is also its name if none is given."""
        handle, part = tempfile.mkstemp(dir=self._folder, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
            digest = _hash_of(Path(part))
            Path(part).replace(self._folder / (name or f"{digest}.npy"))
        finally:
            Path(part).unlink(missing_ok=True)
        return digest


def _hash_of(path: Path) -> str:
    """SHA-256 of the SHA-256 of each block of a file, in hexadecimal digits. Raises ValueError for an empty file."""
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        memoryview(content) as view,
        ThreadPoolExecutor() as threads,
    ):
        digests = threads.map(lambda start: _digest(view, start), range(0, len(view), _BLOCK))
        return hashlib.sha256(b"".join(digests)).hexdigest()


def _digest(view: memoryview, start: int) -> bytes:
    with view[start : start + _BLOCK] as block:
        return hashlib.sha256(block).digest()
