"""A worker's task, put together from what a kernel's header, its build and the study say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.sweep.kernel_source import KernelSource


@dataclass(frozen=True)
class KernelTask:
    """What a worker needs to know of the kernel whose points it runs; made of JSON's types, to cross a pipe.

    platform       the platforms.platform.Platform that runs the points, as module:class
    problem        what the kernel computes, a name of problems.registry.PROBLEMS
    variants       the build report's variants by C++ name
    longest        the largest array size of any point
    repeated_runs  how often a floating-point point is run to compare its results bit by bit, the check included
    visits         how often each point is visited, by a fresh worker
    sampling       the settings of sampling.Sampling for one visit to a point; None to check points and time none
    """

    platform: str
    kernel: str
    problem: str
    plan: str
    shared_elements: str
    summation_depth: str
    binary: str
    variants: dict[str, dict[str, Any]]
    longest: int
    seed: int
    repeated_runs: int
    visits: int
    sampling: dict[str, Any] | None


def kernel_task(
    kernel: KernelSource, report: Mapping[str, Any], binary: str | Path, *, platform: str, **settings: Any
) -> KernelTask:
    """The task of running points of a kernel.

    report    the kernel's build report
    platform  what runs the points, as in KernelTask
    settings  the fields of KernelTask that neither knows: longest, seed, repeated_runs, visits, sampling
    """
    return KernelTask(
        platform=platform,
        kernel=kernel.name,
        problem=kernel.problem.name,
        plan=kernel.plan,
        shared_elements=kernel.shared_elements,
        summation_depth=kernel.summation_depth,
        binary=str(binary),
        variants=report["variants"],
        **settings,
    )
