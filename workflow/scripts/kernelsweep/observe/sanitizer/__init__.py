"""Check kernels under NVIDIA's compute-sanitizer: https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/"""

from kernelsweep.compile.toolkit import find_tool

# Its tools, each with the check of proofs.csv that it makes.
TOOLS = {"memcheck": "bounds", "racecheck": "races", "synccheck": "barriers", "initcheck": "uninitialised"}


def find_sanitizer() -> str | None:
    """The path of compute-sanitizer, if it is installed."""
    return find_tool("compute-sanitizer", "compute-sanitizer")
