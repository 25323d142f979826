"""Where each result lies, relative to the folder in which Snakemake runs. No other module spells these paths.

Every argument that is left out stays a wildcard, so that rules use the same functions for their patterns: points() is
"results/{platform}/points/{study}/{kernel}.csv".

A scope is a platform with all studies, or with one: "emulator", or "emulator/studies/unrolling". Judgements, the
summary and the page exist for both.
"""

from __future__ import annotations

from collections.abc import Mapping

from kernelsweep.sweep.kernels.build_targets import EMULATOR

RESULTS = "results"


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


def folder(scope: str = "{scope}") -> str:
    """The folder of a platform's results, or of a study's."""
    return f"{RESULTS}/{scope}"


def log(rule: str, *job: str, scope: str = "{platform}") -> str:
    """The log of a rule's job in a scope; `job` tells such jobs of the rule apart, e.g. by study and kernel."""
    return f"{RESULTS}/{scope}/logs/{'/'.join((rule, *job))}.log"


# A platform's results: first the files for all studies, then each kernel's files, from which the former are joined.


def device(platform: str = "{platform}") -> str:
    """The description of the device."""
    return f"{RESULTS}/{platform}/device.json"


def environment(platform: str = "{platform}") -> str:
    """The environment of the results: device, versions, revision and configuration."""
    return f"{RESULTS}/{platform}/environment.json"


def measurements(platform: str = "{platform}") -> str:
    """Every study's points."""
    return f"{RESULTS}/{platform}/measurements.csv"


def builds(platform: str = "{platform}") -> str:
    """Every study's builds."""
    return f"{RESULTS}/{platform}/builds.csv"


def metrics(platform: str = "{platform}") -> str:
    """Every study's metrics."""
    return f"{RESULTS}/{platform}/metrics.csv"


def points(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """A kernel's points."""
    return f"{RESULTS}/{platform}/points/{study}/{kernel}.csv"


def samples(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """The samples behind a kernel's points."""
    return f"{RESULTS}/{platform}/samples/{study}/{kernel}.csv"


def kernel_builds(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """The builds of a kernel's variants."""
    return f"{RESULTS}/{platform}/builds/{study}/{kernel}.csv"


def proofs(platform: str = "{platform}") -> str:
    """Every study's proofs."""
    return f"{RESULTS}/{platform}/proofs.csv"


def kernel_proofs(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """The proofs of a kernel's variants on the emulator."""
    return f"{RESULTS}/{platform}/proofs/{study}/{kernel}.csv"


def proof_journal(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """The journal of a kernel's points on the emulator, beside a GPU."""
    return f"{RESULTS}/{platform}/journal/proofs/{study}/{kernel}.jsonl"


def proofs_end(platform: str = "{platform}") -> str:
    """The mark that no proof found anything unexpected."""
    return f"{RESULTS}/{platform}/proofs/.verdict"


def journal(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """A kernel's journal, which outlives the job, so that the next one need not measure the same points again."""
    return f"{RESULTS}/{platform}/journal/{study}/{kernel}.jsonl"


def chunk(
    platform: str = "{platform}",
    study: str = "{study}",
    kernel: str = "{kernel}",
    number: int | str = "{chunk}",
    count: int | str = "{chunks}",
) -> str:
    """The failures of one chunk of a kernel's sweep."""
    return f"{RESULTS}/{platform}/chunks/{study}/{kernel}/{number}-of-{count}.json"


def checked_problem(study: str = "{study}") -> str:
    """What the check of a problem file could not see, in sentences."""
    return f"{RESULTS}/build/{study}.checked.txt"


# Builds, by their target: an architecture, or the emulator.


def build(suffix: str, target: str = "{target}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """A kernel's binary (suffix bin), its build report (json) or its compiler's log (log)."""
    return f"{RESULTS}/build/{target}/{study}/{kernel}.{suffix}"


def emulator_runtime(suffix: str, target: str = "{target}") -> str:
    """What every library for an emulator contains, compiled (suffix o), or its compiler's log (log)."""
    return f"{RESULTS}/build/{target}/runtime.{suffix}"


def unit_store() -> str:
    """The folder of compiled units, which outlive the jobs that compile them."""
    return f"{RESULTS}/build/units"


def cub(suffix: str, target: str = "{target}", library: str = "{library}") -> str:
    """Some of CUB's functions as a library (suffix so), its build report (json) or its compiler's log (log)."""
    return f"{RESULTS}/build/{target}/{library}.{suffix}"


# Measurements besides the kernels'.


def baselines(platform: str = "{platform}", study: str = "{study}") -> str:
    """The host's sums."""
    return f"{RESULTS}/{platform}/baselines/{study}.csv"


def driver_limits(platform: str = "{platform}", study: str = "{study}") -> str:
    """The driver's copy and fill."""
    return f"{RESULTS}/{platform}/limits/{study}.csv"


def rival(platform: str = "{platform}", study: str = "{study}", name: str = "{rival}") -> str:
    """The points of a library's reduction."""
    return f"{RESULTS}/{platform}/rivals/{study}/{name}.csv"


def rival_samples(platform: str = "{platform}", study: str = "{study}", name: str = "{rival}") -> str:
    """The samples behind the points of a library's reduction."""
    return f"{RESULTS}/{platform}/rivals/{study}/samples/{name}.csv"


# Observations by tools.


def profiled_metrics(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """A kernel's metrics from Nsight Compute."""
    return f"{RESULTS}/{platform}/metrics/{study}/{kernel}.csv"


def profiles(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """The folder of a kernel's reports for Nsight Compute's window; empty where it gave no counters."""
    return f"{RESULTS}/{platform}/profiles/{study}/{kernel}"


def counts(platform: str = EMULATOR, study: str = "{study}", kernel: str = "{kernel}") -> str:
    """A kernel's counted metrics."""
    return f"{RESULTS}/{platform}/counts/{study}/{kernel}.csv"


def accesses(study: str, name: str) -> str:
    """The picture of who accesses what in a step of a study's story: the same on every platform."""
    return f"{RESULTS}/{EMULATOR}/studies/{study}/accesses/{name}.svg"


def counted_against_ncu(recording: str = "{name}") -> str:
    """The page that compares counts with a recording's counters."""
    return f"{folder(f'recording/{recording}')}/counted.md"


def sanitized(
    suffix: str,
    platform: str = "{platform}",
    study: str = "{study}",
    kernel: str = "{kernel}",
    tool: str = "{tool}",
) -> str:
    """A kernel's findings under one of compute-sanitizer's tools (suffix json), or the tool's own output (txt)."""
    return f"{RESULTS}/{platform}/sanitizer/{study}/{kernel}.{tool}.{suffix}"


def sanitized_proofs(platform: str = "{platform}", study: str = "{study}", kernel: str = "{kernel}") -> str:
    """The proofs of a kernel by compute-sanitizer's findings."""
    return f"{RESULTS}/{platform}/sanitizer/{study}/{kernel}.proofs.csv"


def findings(suffix: str, platform: str = "{platform}") -> str:
    """All findings of compute-sanitizer, for readers (suffix md) or programs (csv)."""
    return f"{RESULTS}/{platform}/sanitizer.{suffix}"


def sanitizer_end(platform: str = "{platform}") -> str:
    """The mark that compute-sanitizer found nothing unexpected."""
    return f"{RESULTS}/{platform}/sanitizer/.verdict"


# Judgements and what readers see.


def claims(suffix: str, scope: str = "{scope}") -> str:
    """Claims checked against the measurements, for readers (suffix md) or programs (csv)."""
    return f"{RESULTS}/{scope}/claims.{suffix}"


def best(suffix: str, scope: str = "{scope}") -> str:
    """The best configurations, for readers (suffix md) or programs (json)."""
    return f"{RESULTS}/{scope}/best.{suffix}"


def comparison(name: str, platform: str = "{platform}") -> str:
    """One of the files of a comparison of two sweeps."""
    return f"{RESULTS}/{platform}/comparison/{name}"


def history(name: str, platform: str = "{platform}") -> str:
    """One of the files on the kernels' versions."""
    return f"{RESULTS}/{platform}/history/{name}"


def short_table(platform: str = "{platform}", study: str = "{study}") -> str:
    """A study's table in short, for a column of a paper."""
    return f"{RESULTS}/{platform}/studies/{study}/table_short.tex"


def table(suffix: str, platform: str = "{platform}", study: str = "{study}") -> str:
    """A study's table, for readers (suffix md), programs (csv) or LaTeX (tex)."""
    return f"{RESULTS}/{platform}/studies/{study}/table.{suffix}"


def steps(platform: str = "{platform}", study: str = "{study}") -> str:
    """Why each step of a study's story helps."""
    return f"{RESULTS}/{platform}/studies/{study}/steps.md"


def figure(file: str, platform: str = "{platform}", study: str = "{study}") -> str:
    """A file of a study's figures."""
    return f"{RESULTS}/{platform}/studies/{study}/figures/{file}"


def summary(scope: str = "{scope}") -> str:
    """How many points came out how."""
    return f"{RESULTS}/{scope}/summary.md"


def status(scope: str = "{scope}") -> str:
    """How many of a scope's points are right, by study, for the page of all pages."""
    return f"{RESULTS}/{scope}/status.json"


def beside_recordings(platform: str = "{platform}") -> str:
    """How near a GPU's times are to the recordings', in sentences."""
    return f"{RESULTS}/{platform}/beside_recordings.txt"


def page(scope: str = "{scope}") -> str:
    """All results on one page."""
    return f"{RESULTS}/{scope}/report.html"


def index() -> str:
    """The page that leads to all others."""
    return f"{RESULTS}/index.html"


def end(scope: str = "{scope}") -> str:
    """The mark that everything was made, and that no result was wrong."""
    return f"{RESULTS}/{scope}/.verdict"


# Outputs to pass on to others.


def archive(platform: str = "{platform}") -> str:
    """A platform's results in one file."""
    return f"{RESULTS}/archive/{platform}.tar.gz"


def constants(platform: str = "{platform}", study: str = "{study}") -> str:
    """The C++ header of a study's best configurations."""
    return f"{RESULTS}/{platform}/best/{study}.h"


def t4(platform: str = "{platform}", study: str = "{study}") -> str:
    """The folder of a study's measurements in the T4 format."""
    return f"{RESULTS}/{platform}/t4/{study}"


# Recordings, which are kept in the repository.


def recording(name: str = "{name}", file: str = "") -> str:
    """A file of a recording, or its folder."""
    return "/".join(filter(None, ("resources/recordings", name, file)))
