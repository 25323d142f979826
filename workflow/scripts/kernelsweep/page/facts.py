"""What ran, where, when and how it came out: what the page opens with, and what it says of the environment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from kernelsweep.summary import statuses_of

Facts = list[tuple[str, str]]

_REVISION_DIGITS = 12

# Of a device's description: what it is called, its key and how it is written. An emulator has few of them.
_DEVICE_FACTS = (
    ("Compute capability", "compute_capability", "{}"),
    ("Multiprocessors", "multiprocessors", "{}"),
    ("L2 cache", "l2_bytes", "{:,} bytes"),
    ("Memory", "memory_bytes", "{:,} bytes"),
    ("Memory's theoretical peak", "peak_bandwidth_gbs", "{:,.0f} GB/s"),
    ("Memory's clock", "memory_clock_mhz", "{:,.0f} MHz"),
    ("Multiprocessors' clock, highest", "multiprocessor_clock_mhz", "{:,.0f} MHz"),
    ("Driver", "driver", "{}"),
    ("CUDA, of the driver", "cuda_driver_version", "{}"),
)


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
        facts.append(("When", f"{measured[:10]} {measured[11:16]} UTC"))
        facts.append(("Revision", _revision(environment, _REVISION_DIGITS)))
    return facts


def points_by_status(rows: Sequence[Mapping[str, str]], study: str) -> Counter[str]:
    """How many of a study's points came out how."""
    return Counter(row["status"] for row in rows if row["study"] == study)


def environment_facts(
    rows: Sequence[Mapping[str, str]], device: Mapping[str, Any], environment: Mapping[str, Any] | None
) -> Facts:
    """Device, clocks, host, compilers, versions and git revision, as far as they are known."""
    facts = [("Device", str(device["name"]))]
    facts += [(name, text.format(device[key])) for name, key, text in _DEVICE_FACTS if device.get(key) is not None]
    if any(row["clock_mhz"] for row in rows):
        facts.append(("Multiprocessors' clock, timed", _clocks(rows)))
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
    """The lowest clock that a point was timed at, and the highest of these where points differ."""
    clocks = [float(row["clock_mhz"]) for row in rows if row["clock_mhz"]]
    return " to ".join(f"{clock:,.0f}" for clock in sorted({min(clocks), max(clocks)})) + " MHz"
