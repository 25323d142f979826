"""Check kernels under NVIDIA's compute-sanitizer.

selection          which points are run
compute_sanitizer  the tool's command lines, and what its runs came to
worker             the process that the tool checks
log                the tool's output, read
report             the findings as a page and as rows

The manual: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/
"""

from collections.abc import Sequence

from kernelsweep.errors import UserError

# Its tools: accesses out of bounds, races in shared memory, misused barriers, reads of memory that nothing has written.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


def watched_platforms(gpus: Sequence[str], platforms: Sequence[str]) -> Sequence[str]:
    """The platforms that compute-sanitizer can watch: the GPUs'. Raises UserError where this run has no GPU.

    platforms  those that the run has instead
    """
    if not gpus:
        raise UserError(
            "The target sanitize needs an NVIDIA GPU, on which compute-sanitizer watches the kernels, and this run has "
            f"none: its platform is {' and '.join(platforms)}. There, the target all checks every kernel."
        )
    return gpus
