"""Run a few points of one kernel under Nsight Compute: rows for metrics.csv, and the reports for its window."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import shorten

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged
from kernelsweep.compile.binaries import failure_of
from kernelsweep.compile.toolkit import find_tool, tool_version
from kernelsweep.device.description import read_device
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.lease import leased_device
from kernelsweep.device.task import BuiltKernel, Protocol
from kernelsweep.observe.chosen_points import points_to_profile, searched_points
from kernelsweep.observe.profiling.definitions import asked_for, definitions
from kernelsweep.observe.profiling.ncu import MISSING, profile
from kernelsweep.observe.profiling.ncu_report import empty_rows, profile_rows
from kernelsweep.observe.requests import Requests, build_searched
from kernelsweep.results import MESSAGE_LENGTH, METRIC_COLUMNS, each_row, write_rows
from kernelsweep.study.kernel_sweep import KernelSweep, PlannedPoint, launched_columns
from kernelsweep.study.settings import StudySettings
from kernelsweep.study.study import kernel_of_job


def why_not_compiled(planned: PlannedPoint) -> str | None:
    """Why a point has no machine code, or None if it has."""
    if failure := failure_of(report, planned.variant):
        return f"build_failed: {failure['message']}"
    if planned.variant in report["variants"]:
        return None
    return f"{planned.variant} is not compiled, since this sweep has no such point; the sweep `full` may."


with logged(snakemake) as terminal, TemporaryDirectory() as scratch:
    wildcards, plan = snakemake.wildcards, snakemake.params.plan
    kernel = kernel_of_job(**plan.kernel)
    device = read_device(snakemake.input.device)
    name = f"{wildcards.study}/{kernel.name}"
    folder = Path(snakemake.output.reports)
    folder.mkdir(parents=True, exist_ok=True)

    metrics = list(definitions(plan.metrics).values())
    sweep = KernelSweep(kernel, multiprocessors=device["multiprocessors"], target=plan.build["target"], **plan.sweep)
    sweep = replace(sweep, axes=sweep.axes[:1])
    if snakemake.input.searched:
        measured = each_row(snakemake.input.searched[0])
        sweep = replace(sweep, measured=searched_points(measured, sweep.candidates(), timed=True))
        chosen = points_to_profile(StudySettings.of_job(plan.study), sweep)
        report, binary = build_searched(kernel, chosen, plan.build, scratch, snakemake.threads)
    else:
        chosen = points_to_profile(StudySettings.of_job(plan.study), sweep)
        binary, report_file = map(Path, snakemake.input.build)
        report = read_json(report_file)
    reasons = {each.point: shorten(each.skipped or why_not_compiled(each) or "", MESSAGE_LENGTH) for each in chosen}
    rows = [row for point, why in reasons.items() if why for row in empty_rows(point, metrics, f"Not profiled: {why}")]
    runnable = [each for each in chosen if not reasons[each.point]]

    ncu = find_tool("ncu")
    print(f"Nsight Compute {tool_version(ncu)}: {ncu}" if ncu else MISSING, flush=True)
    if ncu is None:
        rows += [row for each in runnable for row in empty_rows(each.point, metrics, MISSING)]
    elif runnable:
        built = BuiltKernel(kernel, report, binary)
        platform = kind_of(wildcards.platform).implementation
        task = built.task(platform, Protocol(None, seed=plan.seed))
        with leased_device(wildcards.platform, device, name, terminal):
            # One run of ncu has one cache setting.
            for cache in dict.fromkeys(each.point["cache"] for each in runnable):
                requests = [(each.point, each.variant) for each in runnable if each.point["cache"] == cache]
                log = Path(snakemake.log[0]).with_suffix(f".{cache}.ncu.txt")
                result = profile(
                    ncu, asked_for(metrics), plan.profiling, Requests(task, requests, plan.timeout_seconds), folder, log
                )
                rows += profile_rows(requests, result, metrics, name)

    shared = {"study": wildcards.study, "kernel": kernel.name, "platform": wildcards.platform}
    binaries = {each.point: report["variants"].get(each.variant, {}) for each in chosen}
    write_rows(
        snakemake.output.metrics,
        METRIC_COLUMNS,
        (
            {
                **shared,
                **launched_columns(kernel, point),
                **row,
                "binary_sha256": binaries[point].get("binary_sha256", ""),
            }
            for point, row in rows
        ),
    )
    print(f"{len(reasons)} points, {sum(row['value'] != '' for _, row in rows)} of {len(rows)} metrics")
