"""Check kernels under NVIDIA's compute-sanitizer: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/"""

from collections.abc import Sequence

from kernelsweep.build.toolkit import find_tool
from kernelsweep.errors import UserError

# Its tools find accesses out of bounds, races in shared memory, misused barriers, and reads of uninitialised memory.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


def find_sanitizer() -> str | None:
    """The path of compute-sanitizer, if it is installed."""
    return find_tool("compute-sanitizer", "compute-sanitizer")


def sanitized_platforms(gpus: Sequence[str], platforms: Sequence[str]) -> Sequence[str]:
    """The platforms that compute-sanitizer can check, which are the GPUs. Raises UserError if this run has no GPU.

    platforms  all platforms of the run
    """
    if not gpus:
        raise UserError(
            "The target sanitize needs an NVIDIA GPU, on which compute-sanitizer watches the kernels, and this run has "
            f"none: its platform is {' and '.join(platforms)}. There, the target all checks every kernel."
        )
    return gpus
