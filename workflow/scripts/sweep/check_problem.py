"""Check a study's problem file: its functions at a small point, and the arguments of each kernel's launches
and of each rival's call.

A mistake ends the run before anything is built. What the problem's check of results could not see is told on the
terminal, and in the output: one sentence a line. The functions run in a process of their own, which may die, and may
not take longer than a point.
"""

from pathlib import Path

from kernelsweep.base.logs import logged
from kernelsweep.base.running import in_child
from kernelsweep.device.arguments import check_arguments
from kernelsweep.study.point import Point
from kernelsweep.study.settings import Rival, YamlFile, read_yaml
from kernelsweep.study.study import kernel_of_job
from kernelsweep.sweep.baselines.libraries import as_kernel


def found_doubts() -> str:
    """The doubts about the check, one a line."""
    doubts = {}
    for each in plan.kernels:
        name = each["kernel"]["study_file"]
        file = YamlFile(name, read_yaml(Path(name), name))
        kernel, point = kernel_of_job(**each["kernel"] | {"study_file": file}), Point(each["point"])
        check_arguments(kernel, point, plan.seed, file)
        data = kernel.problem.data_of(point)
        if data not in doubts:
            doubts[data] = kernel.problem.doubts(kernel.name, point, plan.seed)
    if plan.kernels:
        for rival, call in plan.rivals.items():
            called = as_kernel(rival, kernel.problem, Rival.of_job(call), f"{file}: rivals")
            check_arguments(called, point, plan.seed, file)
    return "".join(f"{doubt}\n" for of_data in doubts.values() for doubt in of_data)


with logged(snakemake) as terminal:
    plan = snakemake.params.plan
    told = in_child(found_doubts, snakemake.input.problem[0], plan.timeout_seconds)
    print(told, end="", file=terminal)
    Path(snakemake.output[0]).write_text(told, encoding="utf-8")
