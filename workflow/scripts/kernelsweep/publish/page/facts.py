"""The facts of a run: device, date, revision and points by status for the page's top, and its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from kernelsweep.analysis.proofs import Proofs, proofs_in_words
from kernelsweep.analysis.row_counts import RowCounts

Facts = list[tuple[str, str]]

_REVISION_DIGITS = 12

# A device's facts: name, key in device.json, format. An emulator has few of them.
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
    counted: RowCounts, proofs: Proofs, device: Mapping[str, Any], environment: Mapping[str, Any] | None
) -> Facts:
    """The facts at the top of the page. Date and revision are omitted if there is no environment.json."""
    provenance, points = str(device["provenance"]), _by_status(counted)
    facts = [
        ("Numbers", provenance),
        ("Points", points if len(counted.by_status()) == 1 else f"{counted.points.total():,}: {points}"),
    ]
    if proofs:
        facts.append(("Proven", proofs_in_words(proofs)))
    if environment is not None:
        runs = _runs(environment, counted)
        times = [f"{run['measured'][:10]} {run['measured'][11:16]} UTC" for run in runs]
        facts.append(("When", " and ".join(times)))
        facts.append(("Revision", " and ".join(_revision(run, _REVISION_DIGITS) for run in runs)))
    return facts


def environment_facts(counted: RowCounts, device: Mapping[str, Any], environment: Mapping[str, Any] | None) -> Facts:
    """Device, clocks, host, compilers, versions and git revision, where known."""
    facts = [("Device", str(device["name"]))]
    facts += [(name, text.format(device[key])) for name, key, text in _DEVICE_FACTS if device.get(key) is not None]
    lowest, highest = counted.clocks_mhz
    if lowest <= highest:
        clocks = " to ".join(f"{clock:,.0f}" for clock in sorted({lowest, highest}))
        facts.append(("Multiprocessors' clock, timed", f"{clocks} MHz"))
    if environment is not None:
        host = environment["host"]
        facts += [
            ("Host", f"{host['processor']}, {host['system']}, Python {host['python']}"),
            ("Compilers", ", ".join(environment["compilers"])),
            ("Profiler", str(environment.get("profiler") or "none")),
            ("Packages", ", ".join(f"{name} {version}" for name, version in environment["packages"].items())),
            ("Revision", " and ".join(map(_revision, _runs(environment, counted)))),
        ]
    return facts


def configuration_text(environment: Mapping[str, Any] | None) -> str:
    """The resolved configuration as YAML, or nothing."""
    if environment is None:
        return ""
    return str(yaml.safe_dump(environment["configuration"], sort_keys=False, allow_unicode=True, width=100))


def _runs(environment: Mapping[str, Any], counted: RowCounts) -> list[Mapping[str, Any]]:
    """What measured these points: the environment's run, or others that a recording has put together with it."""
    studies = {study for study, _, _ in counted.points}
    own = environment["configuration"].get("config", {}).get("studies", ())
    others = [run for run in environment.get("other_runs", ()) if not run["kernels"].keys().isdisjoint(studies)]
    return [*([] if others and set(own).isdisjoint(studies) else [environment]), *others]


def _by_status(counted: RowCounts) -> str:
    counts = counted.by_status()
    texts = [f"{count:,} {status.replace('_', ' ')}" for status, count in counts.items()]
    if excused := counted.excused_in():
        texts[-1] += f" ({excused:,} expected of undefined behaviour)"
    return ", ".join(texts) or "none"


def _revision(environment: Mapping[str, Any], digits: int | None = None) -> str:
    revision, _, dirty = str(environment["git_revision"] or "").partition("-")
    if not revision:
        return "unknown: not run from a git repository"
    return revision[:digits] + (", with changes that were not committed" if dirty else "")
