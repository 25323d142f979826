"""Draw the accesses of each step of a study's story, on the emulator: one SVG file a step."""

import signal
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from kernelsweep.base.logs import logged
from kernelsweep.base.running import in_child
from kernelsweep.compile.builder import built_meanwhile
from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.device.task import BuiltKernel, Protocol
from kernelsweep.errors import UserError
from kernelsweep.judge.data.words import configured_text
from kernelsweep.observe.accesses.picture import WARPS, draw, empty
from kernelsweep.observe.counting.run import Tracer
from kernelsweep.study.kernel_sweep import instantiation
from kernelsweep.study.kernels.source import KernelSource, source_sha256
from kernelsweep.study.point import Point
from kernelsweep.study.study import kernel_of_job

# For a picture; most take less than one.
_PROCESSOR_SECONDS = 20


def pictures(kernel: KernelSource, report: Mapping[str, Any], binary: Path, work: Mapping[str, Any]) -> list[str]:
    """The picture of each step of a kernel. A kernel that doesn't end is ended, also one that sleeps."""
    signal.alarm(max(1, round(plan.timeout_seconds)))
    if report["status"] != "ok":
        return [empty(step["name"], "The kernel could not be compiled.") for step in work["steps"]]
    tracer = Tracer(BuiltKernel(kernel, report, binary).task("", Protocol(None, seed=plan.seed)))
    drawings = []
    for name, point in ((step["name"], Point(step["point"])) for step in work["steps"]):
        signal.setitimer(signal.ITIMER_PROF, _PROCESSOR_SECONDS)
        variant = instantiation(kernel, point)
        if variant in report["failed"]:
            drawings.append(empty(name, "The variant could not be compiled."))
        else:
            where = configured_text(point, work["own_axes"])
            drawings.append(draw(name, where, tracer.trace(point, variant, WARPS)))
    return drawings


with logged(snakemake):
    plan = snakemake.params.plan
    folder = Path(snakemake.output[0])
    folder.mkdir(exist_ok=True)
    for work in plan.kernels:
        file, steps, kernel = work["kernel"]["file"], work["steps"], kernel_of_job(**work["kernel"])
        with built_meanwhile(work["build"], Path(file)) as (report, binary):
            try:
                drawings = in_child(partial(pictures, kernel, report, binary, work), file)
            except UserError as error:
                print(f"{kernel.name}: {error}")
                drawings = [empty(step["name"], f"The accesses could not be traced: {error}") for step in steps]
        source, store = source_sha256(Path(file), map(Path, work["included"])), UnitStore(Path(work["build"]["store"]))
        for step, picture in zip(steps, drawings, strict=True):
            # A comparison shows it beside that of another version.
            store.keep_text(text_name(snakemake.wildcards.study, step["name"], source, "accesses"), picture)
            (folder / f"{step['name']}.svg").write_text(picture, encoding="utf-8")
