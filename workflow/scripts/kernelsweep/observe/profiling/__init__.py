"""Profile kernels under NVIDIA Nsight Compute (ncu): https://docs.nvidia.com/nsight-compute/NsightComputeCli/"""

from collections.abc import Sequence

from kernelsweep.errors import UserError


def profiled_platforms(gpus: Sequence[str], platforms: Sequence[str], asked_by: str) -> Sequence[str]:
    """The platforms that Nsight Compute can profile, which are the GPUs. Raises UserError if this run has no GPU.

    platforms  all platforms of the run
    asked_by   the target or the setting that requires profiling, for the message
    """
    if not gpus:
        raise UserError(
            f"{asked_by} needs an NVIDIA GPU, whose counters Nsight Compute reads, and this run has none: its platform "
            f"is {' and '.join(platforms)}. The counters of a recording are in its tables and figures without it."
        )
    return gpus
