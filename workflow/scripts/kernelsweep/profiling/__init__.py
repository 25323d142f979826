"""Kernels under NVIDIA Nsight Compute (ncu): their hardware metrics, beside the times and never in the same run.

definitions  the configuration's table of metrics, and which of ncu's they need
choice       which points of a kernel are profiled
tool         ncu's command lines, and its failures in words
worker       the process that ncu watches, and the manifest of what it launched
capture      what ncu captured, read from its CSV
matching     each captured launch to the point that launched it, without doubt
combine      the launches of a point to one value a metric

The manual: https://docs.nvidia.com/nsight-compute/NsightComputeCli/
"""

from collections.abc import Sequence

from kernelsweep.errors import UserError

# What a user types to have metrics collected.
PROFILE = "uv run --extra gpu snakemake --cores 1 profile"


def profiled_platforms(gpus: Sequence[str], platforms: Sequence[str], asked_by: str) -> Sequence[str]:
    """The platforms that Nsight Compute can profile: the GPUs'. Raises UserError where this run has no GPU.

    platforms  those that the run has instead
    asked_by   what in the command or the configuration asks for it
    """
    if not gpus:
        raise UserError(
            f"{asked_by} needs an NVIDIA GPU, whose counters Nsight Compute reads, and this run has none: its platform "
            f"is {' and '.join(platforms)}. The counters of a recording are in its tables and figures without it."
        )
    return gpus
