"""Run a few points of one kernel under compute-sanitizer's tools, side by side: rows for proofs.csv."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged, notifier
from kernelsweep.compile.toolkit import tool_version
from kernelsweep.device.description import read_device
from kernelsweep.device.gpus import gpus_of
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.lease import leased_device
from kernelsweep.device.task import BuiltKernel, Protocol
from kernelsweep.observe.chosen_points import points_to_check, searched_points
from kernelsweep.observe.requests import Requests, build_searched
from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.observe.sanitizer.compute_sanitizer import find, proof_row, run_points, run_status
from kernelsweep.observe.sanitizer.log import parse_log
from kernelsweep.results import NOT_CHECKED, PROOF_COLUMNS, Row, each_row, write_rows
from kernelsweep.study.kernel_sweep import KernelSweep
from kernelsweep.study.kernels.source import source_sha256
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.study import kernel_of_job

with logged(snakemake) as terminal, TemporaryDirectory() as scratch:
    wildcards, plan = snakemake.wildcards, snakemake.params.plan
    kind, file = kind_of(wildcards.platform), Path(snakemake.input.kernel)
    kernel = kernel_of_job(**plan.kernel)
    device = read_device(snakemake.input.device)
    if kind.needs_gpu:
        gpus_of(wildcards.platform)  # Raises UserError if none is visible.
    compute_sanitizer = find()
    print(f"compute-sanitizer {tool_version(compute_sanitizer)}")

    sweep = KernelSweep(kernel, multiprocessors=device["multiprocessors"], target=plan.build["target"], **plan.sweep)
    small = replace(sweep, axes=plan.small_axes, target=EMULATOR)
    refused = None
    if snakemake.input.searched:
        measured = list(each_row(snakemake.input.searched[0]))
        refused = next((row["message"] for row in measured if row["status"] == "build_failed"), None)
        sweep = replace(sweep, measured=searched_points(measured, sweep.candidates(), timed=False))
        chosen = points_to_check(sweep, None, small)
        report, binary = build_searched(kernel, chosen, plan.build, scratch, snakemake.threads)
    else:
        binary, report_file = map(Path, snakemake.input.build)
        report = read_json(report_file)
        chosen = points_to_check(sweep, report["variants"], small)
    task = BuiltKernel(kernel, report, binary).task(kind.implementation, Protocol(None, seed=plan.seed))
    asked = Requests(task, [(each.point, each.variant) for each in chosen], plan.timeout_seconds)

    def check(tool: str) -> Row:
        """Run the points under a tool."""
        raw, points = Path(snakemake.log[0]).with_suffix(f".{tool}.txt"), [each.point for each in chosen]
        run = run_points(compute_sanitizer, tool, asked, raw)
        for point, answer in zip(points, run.answers, strict=False):
            print(f"{tool}: {answer.status}: {point}: {answer.message}".rstrip(": "))
        log = parse_log(raw.read_text(encoding="utf-8", errors="replace"))
        status, reason = run_status(run, log, points, kernel.entry.undefined_behaviour is not None)
        return proof_row(kernel, tool, status, reason, len(run.answers), log.findings)

    if message := report["message"] if report["status"] != "ok" else refused if not chosen else None:
        rows = [proof_row(kernel, tool, "failed", f"build_failed: {message}") for tool in TOOLS]
    elif not chosen:
        reasons = map(sweep.skip_reason, sweep.points())
        why = next(filter(None, reasons), "none of the sweep's variants is compiled")
        rows = [proof_row(kernel, tool, "skipped", why) for tool in TOOLS]
    else:
        name = f"{wildcards.study}/{kernel.name}, compute-sanitizer"
        with (
            leased_device(wildcards.platform, device, name, terminal, shared=True),
            ThreadPoolExecutor(len(TOOLS)) as tools,
        ):
            rows = [*tools.map(check, TOOLS)]
    for row in rows:
        if row["finding"] not in ("", NOT_CHECKED) and not row["expected"]:
            notifier(terminal, f"{wildcards.study}/{kernel.name}, {row['tool']}")(f"{row['finding']}: {row['message']}")
    source = source_sha256(file, map(Path, snakemake.input.included))
    write_rows(
        snakemake.output[0],
        PROOF_COLUMNS,
        ({**row, "study": wildcards.study, "kernel": kernel.name, "source_sha256": source} for row in rows),
    )
