"""Lines of made-up journals, as a job writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernelsweep.sweep.identity import identity_sha256
from kernelsweep.sweep.journal import Journal

SETTINGS = {"device.name": "a GPU", "device.driver": "1", "protocol.seed": 1, "code": "c"}


def identity(point: Mapping[str, Any], binary: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a point's visits, without the visit's number."""
    return {"point": dict(point), "version": {"binary": binary}, "settings": {**SETTINGS, **settings}}


def add_visit(
    journal: Journal,
    of: Mapping[str, Any],
    visit: int,
    samples: Sequence[float],
    source: str,
    measured: str = "2026-11-21T13:10:28Z",
    counts: Mapping[str, float] | None = None,
) -> None:
    """Add a right visit to a point with this identity, unless the journal has it; of an emulator, it has counts."""
    identified = {**of, "visit": visit}
    if journal.get(identity_sha256(identified)) is None:
        timings = [{"samples": list(samples), "device_uuid": "GPU-1"}] if samples else []
        outcome = {"status": "ok", "visits": timings, "counts": dict(counts or {})}
        value = {"measured": measured, "outcome": outcome, "of": identified, "source_sha256": source}
        journal.add(identity_sha256(identified), value)
