"""Run a few points of one kernel under one of compute-sanitizer's tools: its findings as JSON, and its raw log."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kernelsweep.build.build_report import read_report
from kernelsweep.build.toolkit import tool_version
from kernelsweep.json_files import read_device
from kernelsweep.logs import logged, notifier
from kernelsweep.measure.task import BuiltKernel, Protocol
from kernelsweep.observe.chosen_points import points_to_check, searched_points
from kernelsweep.observe.requests import Requests, build_searched
from kernelsweep.observe.sanitizer.compute_sanitizer import find, run_points, run_status
from kernelsweep.observe.sanitizer.log import parse_log
from kernelsweep.observe.sanitizer.report import Result, write_result
from kernelsweep.platforms.gpus import gpus_of
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.lease import leased_device
from kernelsweep.results import each_row
from kernelsweep.sweep.kernel_sweep import KernelSweep
from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.study import kernel_of_job

with logged(snakemake.log[0]) as terminal, TemporaryDirectory() as scratch:
    wildcards, params = snakemake.wildcards, snakemake.params
    kind = kind_of(wildcards.platform)
    kernel = kernel_of_job(
        **params.kernel, path=Path(snakemake.input.kernel).resolve(), root=Path.cwd(), study=wildcards.study
    )
    device = read_device(snakemake.input.device)
    raw = Path(snakemake.output.raw)
    if kind.needs_gpu:
        gpus_of(wildcards.platform)  # Raises UserError if none is visible.
    compute_sanitizer = find()

    sweep = KernelSweep(
        kernel, multiprocessors=device["multiprocessors"], target=params.build["target"], **params.sweep
    )
    small = replace(sweep, axes=params.small_axes, target=EMULATOR)
    refused = None
    if snakemake.input.searched:
        measured = list(each_row(snakemake.input.searched[0]))
        refused = next((row["message"] for row in measured if row["status"] == "build_failed"), None)
        sweep = replace(sweep, measured=searched_points(measured, sweep.candidates(), timed=False))
        chosen = points_to_check(sweep, None, small)
        report, binary = build_searched(kernel, chosen, params.build, scratch, snakemake.threads)
    else:
        binary, report_file = map(Path, snakemake.input.build)
        report = read_report(report_file)
        chosen = points_to_check(sweep, report["variants"], small)
    known = {
        "study": wildcards.study,
        "kernel": kernel.name,
        "tool": wildcards.tool,
        "undefined_behaviour": kernel.undefined_behaviour,
        "version": tool_version(compute_sanitizer),
    }
    if report["status"] != "ok":
        raw.touch()
        result = Result(status="failed", reason=" ".join(f"build_failed: {report['message']}".split()), **known)
    elif refused and not chosen:
        raw.touch()
        result = Result(status="failed", reason=f"build_failed: {refused}", **known)
    elif not chosen:
        raw.touch()
        reasons = map(sweep.skip_reason, sweep.points())
        why = next(filter(None, reasons), "none of the sweep's variants is compiled")
        result = Result(status="skipped", reason=why, **known)
    else:
        points = [each.point for each in chosen]
        built = BuiltKernel(kernel, report, binary)
        task = built.task(kind.implementation, Protocol(None, seed=params.seed))
        requests = [(each.point, each.variant) for each in chosen]
        name = f"{wildcards.study}/{kernel.name}, {wildcards.tool}"
        with leased_device(wildcards.platform, device, notifier(terminal, name), shared=True):
            asked = Requests(task, requests, params.timeout_seconds)
            run = run_points(compute_sanitizer, wildcards.tool, asked, raw)
        for point, answer in zip(points, run.answers, strict=False):
            print(f"{answer.status}: {point}: {answer.message}".rstrip(": "))
        log = parse_log(raw.read_text(encoding="utf-8", errors="replace"))
        status, reason = run_status(run, log, points, kernel.undefined_behaviour is not None)
        result = Result(
            status=status,
            reason=reason,
            errors=log.errors,
            warnings=log.warnings,
            points=len(run.answers),
            findings=log.findings,
            **known,
        )
    print(f"{result.status}: {result.reason or f'{result.errors} errors, {result.warnings} warnings'}")
    write_result(Path(snakemake.output.result), result)
