"""The facts of a run: where its numbers come from, its points by status, and its environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from kernelsweep.analysis.proofs import Proofs, proofs_in_words
from kernelsweep.analysis.row_counts import RowCounts

Facts = list[tuple[str, str]]


def run_facts(
    counted: RowCounts, proofs: Proofs, device: Mapping[str, Any], environment: Mapping[str, Any] | None
) -> Facts:
    """The facts at the top of the page. The date is omitted if there is no environment.json."""
    statuses = [f"{count:,} {status.replace('_', ' ')}" for status, count in counted.by_status().items()]
    if excused := counted.excused_in():
        statuses[-1] += f" ({excused:,} expected of undefined behaviour)"
    facts = [("Numbers", str(device["provenance"])), ("Points", ", ".join(statuses) or "none")]
    if proofs:
        facts.append(("Checked", proofs_in_words(proofs)))
    if environment is not None:
        days = dict.fromkeys(sorted(run["measured"][:10] for run in _runs(environment, counted)))
        facts.append(("When", " to ".join([*days][:: max(len(days) - 1, 1)])))
    return facts


def environment_text(counted: RowCounts, device: Mapping[str, Any], environment: Mapping[str, Any] | None) -> str:
    """Device, clocks, host, compilers, versions, runs and the resolved configuration as YAML, where known."""
    shown: dict[str, Any] = {"device": dict(device)}
    lowest, highest = counted.clocks_mhz
    if lowest <= highest:
        shown["clocks_mhz_while_timed"] = sorted({lowest, highest})
    if environment is not None:
        shown["runs"] = [
            {"measured": run["measured"], "git_revision": run["git_revision"]} for run in _runs(environment, counted)
        ]
        shown |= {key: environment.get(key) for key in ("host", "compilers", "profiler", "packages", "configuration")}
    return str(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=100))


def _runs(environment: Mapping[str, Any], counted: RowCounts) -> list[Mapping[str, Any]]:
    """What measured these points: the environment's run, or others that a recording has put together with it."""
    studies = {study for study, _, _ in counted.points}
    own = environment["configuration"].get("config", {}).get("studies", ())
    others = [run for run in environment.get("other_runs", ()) if not run["kernels"].keys().isdisjoint(studies)]
    return [*([] if others and set(own).isdisjoint(studies) else [environment]), *others]
