"""The best configurations as best.json, which other programs and the page read."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from kernelsweep.base.json_files import read_record
from kernelsweep.judge.best.find import Best, Use
from kernelsweep.judge.data.reference import has_times

# The version of best.json. It rises when a key changes its meaning or is removed; programs should check it first.
SCHEMA_VERSION = 2


def best_json(entries: Sequence[Best], uses: Sequence[Use], studies: Sequence[str], device: Mapping[str, Any]) -> str:
    """The best configurations for programs, in the format of workflow/schemas/best.schema.json."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "device": {key: device.get(key) for key in ("name", "compute_capability", "multiprocessors", "provenance")},
        "studies": list(studies),
        "reason_for_none": "" if entries else reason_for_none(studies, device),
        "use": list(map(_as_json, uses)),
        "entries": list(map(asdict, entries)),
    }
    return json.dumps(document, indent=1) + "\n"


def _as_json(use: Use) -> dict[str, Any]:
    """What to use, and the gain at the largest of the sizes on its own."""
    last = use.gains[-1] if use.gains else None
    ends = dict(zip(("gain", "gain_low", "gain_high"), astuple(last[0]) if last else (None,) * 3, strict=True))
    return {**asdict(use), **ends, "is_beside_throttled": last is not None and last[1]}


def reason_for_none(studies: Collection[str], device: Mapping[str, Any]) -> str:
    """The reason why there are no best configurations."""
    if not studies:
        return "The kernels do different work, so none is the best."
    if not has_times(device):
        return "There are no times on this platform, so no configuration is the best."
    return "No point of these studies has a time."


@dataclass(frozen=True)
class BestFile:
    """What best_json() wrote: the device's description, what to use, the entries, and why there are none, or ""."""

    schema_version: Annotated[int, Field(strict=True, ge=SCHEMA_VERSION, le=SCHEMA_VERSION)]
    device: dict[str, str | int | None]
    use: list[Use]
    entries: list[Best]
    reason_for_none: str


def read_best(path: Path) -> BestFile:
    """What best_json() wrote to a file. Raises UserError, naming file and key, for another content."""
    best: BestFile = read_record(path, BestFile)
    return best
