"""Check kernels under NVIDIA's compute-sanitizer: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/"""

from kernelsweep.build.toolkit import find_tool

# Its tools find accesses out of bounds, races in shared memory, misused barriers, and reads of uninitialised memory.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


def find_sanitizer() -> str | None:
    """The path of compute-sanitizer, if it is installed."""
    return find_tool("compute-sanitizer", "compute-sanitizer")
