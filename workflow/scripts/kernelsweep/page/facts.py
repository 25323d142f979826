"""What ran, where, when and how it came out: what the page opens with, and what it says of the environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

Facts = list[tuple[str, str]]

_REVISION_DIGITS = 12
_BYTES_IN_MIB = 2**20


def run_facts(
    rows: Sequence[Mapping[str, str]], device: Mapping[str, Any], environment: Mapping[str, Any] | None
) -> Facts:
    """What a reader asks first; without an environment, as where one study was run, neither when nor by which code."""
    provenance = str(device["provenance"])
    facts = [
        ("Device", str(device["name"])),
        ("Numbers", provenance[:1].upper() + provenance[1:]),
        ("Points", f"{len(rows):,}: {_by_status(rows)}"),
    ]
    if environment is not None:
        measured = str(environment["measured"])
        facts.append(("Measured", f"{measured[:10]} {measured[11:16]} UTC"))
        facts.append(("Revision", _revision(environment, _REVISION_DIGITS)))
    return facts


def statuses_of(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """The statuses that occur, ok first."""
    return sorted({row["status"] for row in rows}, key=lambda status: (status != "ok", status))


def points_by_status(rows: Sequence[Mapping[str, str]], study: str) -> Counter[str]:
    """How many of a study's points came out how."""
    return Counter(row["status"] for row in rows if row["study"] == study)


def environment_facts(
    rows: Sequence[Mapping[str, str]], device: Mapping[str, Any], environment: Mapping[str, Any] | None
) -> Facts:
    """Device, clocks, host, compilers, versions and git revision."""
    facts = [("Device", str(device["name"]))]
    if device["kind"] == "gpu":
        facts += [
            ("Compute capability", str(device["compute_capability"])),
            ("Multiprocessors", f"{device['multiprocessors']}"),
            ("L2 cache", f"{device['l2_bytes'] / _BYTES_IN_MIB:,.0f} MiB"),
            ("Memory", f"{device['memory_bytes'] / _BYTES_IN_MIB:,.0f} MiB"),
            ("Memory's theoretical peak", f"{device['peak_bandwidth_gbs']:,.0f} GB/s"),
            ("Multiprocessors' highest clock", f"{device['multiprocessor_clock_mhz']:,.0f} MHz"),
            ("Their lowest while a point was timed", _clocks(rows)),
            ("Memory's clock", f"{device['memory_clock_mhz']:,.0f} MHz"),
            ("Driver", f"{device['driver']}, CUDA {device['cuda_driver_version']}"),
        ]
    if environment is not None:
        host = environment["host"]
        facts += [
            ("Host", f"{host['processor']}, {host['system']}, Python {host['python']}"),
            ("Compilers", ", ".join(environment["compilers"])),
            ("Profiler", str(environment.get("profiler") or "none")),
            ("Packages", ", ".join(f"{name} {version}" for name, version in environment["packages"].items())),
            ("Revision", _revision(environment)),
        ]
    return facts


def configuration_text(environment: Mapping[str, Any] | None) -> str:
    """The resolved configuration as YAML, or nothing."""
    if environment is None:
        return ""
    return str(yaml.safe_dump(environment["configuration"], sort_keys=False, allow_unicode=True, width=100))


def _by_status(rows: Sequence[Mapping[str, str]]) -> str:
    counts = Counter(row["status"] for row in rows)
    return ", ".join(f"{counts[status]:,} {status.replace('_', ' ')}" for status in statuses_of(rows)) or "none"


def _revision(environment: Mapping[str, Any], digits: int | None = None) -> str:
    revision, _, dirty = str(environment["git_revision"] or "").partition("-")
    if not revision:
        return "unknown: not run from a git repository"
    return revision[:digits] + (", with changes that were not committed" if dirty else "")


def _clocks(rows: Sequence[Mapping[str, str]]) -> str:
    clocks = [float(row["clock_mhz"]) for row in rows if row["clock_mhz"]]
    if not clocks:
        return "not read"
    return " to ".join(f"{clock:,.0f}" for clock in sorted({min(clocks), max(clocks)})) + " MHz"
