"""Recordings: measured data sets kept in the repository for readers without that hardware."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError

# A recording travels with every clone, so it is kept small.
LARGEST_BYTES = 2_000_000


def record(results: Path, folder: Path) -> int:
    """Keep a platform's results in `folder` and return the recording's size in bytes.

    Raises UserError, writing nothing, where the results are incomplete or come to more than LARGEST_BYTES.
    """
    for name in ("measurements.csv", "builds.csv", "environment.json"):
        if not (results / name).is_file():
            raise UserError(f"{results}: {name} is missing; let `snakemake --cores 1 all` end first")
    # Not every platform has been profiled.
    tables = [name for name in ("measurements.csv", "metrics.csv") if (results / name).is_file()]
    packed = {f"{name}.gz": gzip.compress((results / name).read_bytes(), mtime=0) for name in tables}
    size = sum(map(len, packed.values())) + sum(
        (results / name).stat().st_size for name in ("builds.csv", "environment.json")
    )
    if size > LARGEST_BYTES:
        raise UserError(f"{results}: {size} bytes, more than a recording may have ({LARGEST_BYTES})")
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.csv.gz"):
        old.unlink()
    for name, content in packed.items():
        (folder / name).write_bytes(content)
    shutil.copy(results / "builds.csv", folder)
    shutil.copy(results / "environment.json", folder)
    return size


def recorded_device(environment: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The device description of a recording, with a provenance that says it is one."""
    device = dict(environment["device"])
    day = environment["measured"][:10]
    device["provenance"] = (
        f"recorded on {device['name']} on {day}, driver {device['driver']} (resources/recordings/{name})"
    )
    return device
