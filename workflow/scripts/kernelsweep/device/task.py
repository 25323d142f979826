"""A worker's task: the kernel whose points it runs, and the protocol by which it measures them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.device.kinds import Kind
from kernelsweep.device.sampling import Criterion, Sampling, per_visit, sampling_settings
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.problem.problem_file import Named


@dataclass(frozen=True)
class Protocol:
    """How a kernel's points are measured.

    sampling         when a visit to a point has samples enough; None to check points and time none
    visits           how often each point is visited, each time by a fresh worker
    repeated_runs    how often a floating-point point is run to compare its results bit by bit, the check included
    timeout_seconds  how long a point may take
    seed             of the input, and of the order of the points
    second_input     whether small points are also run with an input of another seed
    seeds            the number of orders of blocks, warps and lanes in which a point runs, where there is no clock
    criterion        ends the samples of a visit; None for MedianKnown of `sampling`
    """

    sampling: Sampling | None
    visits: int = 1
    repeated_runs: int = 1
    timeout_seconds: float = 120.0
    seed: int = 0
    second_input: bool = False
    seeds: int = 1
    criterion: Criterion | None = None


def measuring_protocol(measuring: Mapping[str, Any], seed: int, kind: Kind) -> Protocol:
    """The protocol of config.yaml's `measuring` on a platform of a kind."""
    seeds = 1 if kind.has_clock else measuring["seeds"]
    visits = measuring["visits"] if kind.has_clock else 1  # Without a clock, a second visit would show nothing.
    return Protocol(
        sampling=per_visit(sampling_settings(measuring), visits),
        visits=visits,
        repeated_runs=min(measuring["repeated_runs"], kind.most_repeated_runs or measuring["repeated_runs"]),
        timeout_seconds=measuring["timeout_seconds"] * seeds,
        seed=seed,
        second_input=True,
        seeds=seeds,
    )


@dataclass(frozen=True)
class KernelTask:
    """The description of a kernel for the worker that runs its points. Made of JSON's types, to cross a pipe.

    platform  the device.platform.Platform that runs the points, as module:class
    problem   what the kernel computes, as Problem.named names it
    launches  of one run, as KernelLaunches.as_values() returns them
    roundings an expression for the longest chain of roundings of an element
    binary    the file with its variants; empty where each point comes with the unit of its variant (compile/builder.py)
    variants  the build report's variants by C++ name
    against   a hash of the other kernel's points that its points run in pairs with; "" without one
    """

    platform: str
    kernel: str
    problem: Named
    launches: Mapping[str, Any]
    roundings: str
    binary: str
    variants: dict[str, dict[str, Any]]
    protocol: Protocol
    against: str = ""


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel with its build report and its binary; None where its variants are compiled while it is measured."""

    source: KernelSource
    report: Mapping[str, Any]
    binary: Path | None

    def task(self, platform: str, protocol: Protocol) -> KernelTask:
        """The task of running points of it; `platform` as in KernelTask."""
        return KernelTask(
            platform=platform,
            kernel=self.source.name,
            problem=self.source.problem.named,
            launches=self.source.launches.as_values(),
            roundings=str(self.source.entry.roundings),
            binary=str(self.binary or ""),
            variants=self.report["variants"],
            protocol=protocol,
        )
