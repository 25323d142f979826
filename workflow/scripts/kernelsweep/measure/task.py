"""A worker's task, put together from what a kernel's header, its build and the study say."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelsweep.measure.runner import KernelTask
from kernelsweep.sweep.kernel_source import KernelSource


def kernel_task(
    kernel: KernelSource, report: Mapping[str, Any], binary: str | Path, *, emulated: bool, **settings: Any
) -> KernelTask:
    """The task of running points of a kernel.

    report    the kernel's build report
    settings  the fields of KernelTask that neither knows: problem, longest, seed, repeated_runs, visits, sampling
    """
    return KernelTask(
        platform="emulator" if emulated else "gpu",
        kernel=kernel.name,
        plan=kernel.plan,
        shared_elements=kernel.shared_elements,
        summation_depth=kernel.summation_depth,
        binary=str(binary),
        variants=report["variants"],
        **settings,
    )
