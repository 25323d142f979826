"""Where each result lies, relative to the folder in which Snakemake runs. No other module spells these paths.

A scope is a platform with all studies, or with one: "emulator", or "emulator/studies/unrolling". Judgements, the
summary and the page exist for both.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from kernelsweep.device.names import ANY

RESULTS = "results"

# The folders of a platform with results of other targets than `all`.
OF_TARGETS = ("comparison", "grade", "proofs", "sanitizer")

# In the place of a scope's study: those of a recording that `all` doesn't run. No study has this name.
OTHERS = "_others"

PATHS = {
    # A platform's results.
    "device": "{platform}/device.json",
    "environment": "{platform}/environment.json",
    "measurements": "{platform}/measurements.csv",
    "builds": "{platform}/builds.csv",
    "metrics": "{platform}/metrics.csv",
    "proofs": "{platform}/proofs.csv",
    "comparison": "{platform}/comparison/{file}",
    "grade": "{platform}/grade/{file}",
    "secret": "grade.secret",
    "made_from": "{folder}/made_from/{output}.json",
    # A kernel's. Journals outlive the jobs that write them, so that the next ones don't measure the same again.
    "points": "{platform}/points/{study}/{kernel}.csv",
    "samples": "{platform}/samples/{study}/{kernel}.csv",
    "kernel_builds": "{platform}/builds/{study}/{kernel}.csv",
    "kernel_proofs": "{platform}/proofs/{study}/{kernel}.csv",
    "journal": "{platform}/journal/{study}/{kernel}.jsonl",
    "proof_journal": "{platform}/journal/proofs/{study}/{kernel}.jsonl",
    "count_journal": "emulator/journal/counts/{study}/{kernel}.jsonl",
    "chunk": "{platform}/chunks/{study}/{kernel}/{chunk}-of-{chunks}.json",
    "counts": "{platform}/counts/{study}/{kernel}.csv",
    "profiled_metrics": "{platform}/metrics/{study}/{kernel}.csv",
    "profiles": "{platform}/profiles/{study}/{kernel}",
    "sanitized_proofs": "{platform}/sanitizer/{study}/{kernel}.csv",
    # What is measured beside kernels: the driver's copy and fill, libraries.
    "driver_limits": "{platform}/limits/{study}.csv",
    "rival": "{platform}/rivals/{study}/{rival}.csv",
    "rival_samples": "{platform}/rivals/{study}/samples/{rival}.csv",
    # Builds, by target: an architecture, or the emulator. Compiled units outlive the jobs that compile them.
    "build": "build/{target}/{study}/{kernel}.{suffix}",
    "build_end": "build/{target}/.verdict",
    "emulator_runtime": "build/{target}/runtime.{suffix}",
    "cub": "build/{target}/{library}.{suffix}",
    "unit_store": "build/units",
    "checked_problem": "build/{study}.checked.txt",
    "left_out": "build/{study}.left_out",
    "seconds": "build/seconds.json",
    # Judgements and what readers see.
    "folder": "{scope}",
    "claims": "{scope}/claims.{suffix}",
    "claims_figure": "{scope}/claims",
    "best": "{scope}/best.{suffix}",
    "summary": "{scope}/summary.md",
    "status": "{scope}/status.json",
    "page": "{scope}/report.html",
    # The end of a run, in the folder of its results.
    "answer": "{folder}/answer.json",
    "end": "{folder}/.verdict",
    "index": "index.html",
    "table": "{platform}/studies/{study}/table.{suffix}",
    "best_table": "{platform}/studies/{study}/best.tex",
    "counters_table": "{platform}/studies/{study}/counters.tex",
    "story": "{platform}/studies/{study}/story.json",
    "steps": "{platform}/studies/{study}/steps.md",
    "figures": "{platform}/studies/{study}/figures",
    "view": "{platform}/studies/{study}/views/{name}.{suffix}",
    "accesses": "emulator/studies/{study}/accesses",
    "picture": "emulator/studies/{study}/pictures/{name}.{suffix}",
    # Outputs to pass on to others.
    "constants": "{platform}/best/{study}.h",
}
# What the repository keeps.
_RECORDED = "resources/recordings/{name}/{file}"


class _Values(dict[str, object]):
    """Values of wildcards; the others stay as they are."""

    def __missing__(self, name: str) -> str:
        return f"{{{name}}}"


def path(file: str, /, **wildcards: object) -> str:
    """The path of a kind of file. A wildcard without a value stays in it: so rules write their patterns.

    path("points", study="unrolling") is "results/{platform}/points/unrolling/{kernel}.csv".
    """
    pattern = _RECORDED if file == "recorded" else f"{RESULTS}/{PATHS[file]}"
    return pattern.format_map(_Values(wildcards))


def made_from_file(output: str) -> str:
    """The file of what a job's outputs were made from, by the first of them, in the folder of its platform.

    That of "results/emulator/points/unrolling/warp.csv" is "results/emulator/made_from/points/unrolling/warp.csv.json".
    """
    match = re.fullmatch(f"{RESULTS}/({ANY})/(.+)", output)
    assert match, "an output is a result"
    return path("made_from", folder=match[1], output=match[2])


def log(rule: str, *job: str, scope: str = "{platform}") -> str:
    """The log of a rule's job in a scope; `job` tells such jobs of the rule apart, e.g. by study and kernel."""
    return f"{RESULTS}/{scope}/logs/{'/'.join((rule, *job))}.log"


def scope_of(platform: str, study: str | None = None) -> str:
    """The scope of a platform's results for one study, or for all studies together."""
    return f"{platform}/studies/{study}" if study else platform


def parts_of(scope: str) -> tuple[str, str | None]:
    """A scope's platform and study; the study is None where the scope is all of them."""
    platform, _, study = scope.rpartition("/studies/")
    return (platform, study) if platform else (scope, None)


def with_scope(wildcards: Mapping[str, str]) -> dict[str, str]:
    """The wildcards of a job, and its scope; where they have that, its platform, and its study if it is one study's."""
    if "scope" in wildcards:
        platform, study = parts_of(wildcards["scope"])
        return {**wildcards, "platform": platform, **({"study": study} if study else {})}
    if "platform" in wildcards:
        return {**wildcards, "scope": scope_of(wildcards["platform"], wildcards.get("study"))}
    return dict(wildcards)
