"""Platforms by name, as config.yaml, the folders of results and the wildcards of Snakemake have them."""

from __future__ import annotations

from kernelsweep.study.kernels.units import EMULATOR

_RECORDING = "recording/"
# In the results of one: which measurements were played, by their hash, and since when.
RECORDED_FILE = "recorded.json"

# Regular expressions for the wildcard `platform`: any platform, those that are measured, and those with a clock.
ANY = r"recording/[^/]+|[^/]+"
MEASURED = r"(?!recording/)[^/]+"
TIMED = rf"(?!recording/|{EMULATOR}/)[^/]+"


def is_recording(platform: str) -> bool:
    """Whether a platform is a recording, whose points were measured earlier."""
    return platform.startswith(_RECORDING)


def recording_name(platform: str) -> str:
    """The name of a recording, which is its folder's in resources/recordings/."""
    return platform.removeprefix(_RECORDING)


def recording_platform(name: str) -> str:
    """The platform of a recording of that name."""
    return f"{_RECORDING}{name}"


def recording_folder(platform: str) -> str:
    """The folder of a recording."""
    return f"resources/recordings/{recording_name(platform)}"
