"""Run one kernel's sweep: every point checked and, on a GPU, timed. Rows for measurements, samples and builds."""

import json
import sys
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kernelsweep.worker_process import WorkerProcess

emulated = snakemake.wildcards.platform == "emulator"
started = WorkerProcess("emulator" if emulated else "gpu")  # It imports what it needs while this process does.

from kernelsweep.axes import axes_on_device
from kernelsweep.build import read_report
from kernelsweep.journal import Journal
from kernelsweep.kernel_header import read_kernel
from kernelsweep.kernel_source import source_sha256
from kernelsweep.lease import leased_gpu
from kernelsweep.logs import logged, teller
from kernelsweep.measure import build_rows, measure, measurement_rows, sample_rows
from kernelsweep.plans import launched_points
from kernelsweep.platforms.detect import check_driver
from kernelsweep.platforms.emulator import MOST_REPEATED_RUNS
from kernelsweep.progress import progress
from kernelsweep.results import BUILD_COLUMNS, MEASUREMENT_COLUMNS, SAMPLE_COLUMNS, write_rows
from kernelsweep.sampling import sampling, share
from kernelsweep.sweep import instantiation, points, skip_reason
from kernelsweep.tasks import kernel_task

with logged(snakemake.log[0]) as terminal, started:
    wildcards, params = snakemake.wildcards, snakemake.params
    kernel_file = Path(snakemake.input.kernel)
    kernel = read_kernel(kernel_file.resolve(), Path.cwd())
    device = json.loads(Path(snakemake.input.device).read_text())
    report = read_report(Path(snakemake.input.report))

    sweeps = [axes_on_device(axes, device["multiprocessors"]) for axes in params.axes]
    planned = [
        (point, instantiation(kernel, point), skip_reason(point, kernel, params.restrictions, report["target"]))
        for point in launched_points(kernel.plan, points(*sweeps))
    ]
    measuring = params.measuring
    repeated_runs = min(measuring["repeated_runs"], MOST_REPEATED_RUNS) if emulated else measuring["repeated_runs"]
    visits = 1 if emulated else measuring["visits"]  # More would show nothing without a clock.
    task = kernel_task(
        kernel,
        report,
        snakemake.input.binary,
        emulated=emulated,
        problem=params.problem,
        longest=max(point.array_size for point, _, _ in planned),
        seed=params.seed,
        repeated_runs=repeated_runs,
        visits=visits,
        sampling=asdict(share(sampling(measuring), visits)),
    )

    name = f"{wildcards.study}/{kernel.name}"
    tell = teller(terminal, name)
    source = source_sha256(kernel_file, Path("kernels/include"))
    # The journal before the GPU: who waits for another job's points holds up nobody. CUDA starts in measure()'s worker.
    with (
        Journal(Path(params.journal), tell) as journal,
        nullcontext() if emulated else leased_gpu(wildcards.platform, tell) as gpu,
        progress(name, terminal) as shown,
    ):
        if gpu:
            check_driver(gpu, device)
            print(f"on {gpu.name}, {gpu.uuid}", flush=True)

        outcomes = measure(
            task, planned, report, journal, device, measuring["timeout_seconds"], shown.show, started, source
        )

    known = {
        "study": wildcards.study,
        "kernel": kernel.name,
        "platform": wildcards.platform,
        "source_sha256": source,
    }
    rows = measurement_rows(kernel, report, outcomes, device, known)
    write_rows(snakemake.output.points, MEASUREMENT_COLUMNS, rows)
    write_rows(snakemake.output.samples, SAMPLE_COLUMNS, sample_rows(kernel, outcomes))
    write_rows(snakemake.output.builds, BUILD_COLUMNS, build_rows(kernel, report, outcomes, known))
    print(f"{len(rows)} points, {sum(row['status'] == 'ok' for row in rows)} ok")
