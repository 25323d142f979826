"""Platforms by name, as config.yaml, the folders of results and the wildcards of Snakemake have them."""

from __future__ import annotations

from collections.abc import Iterable

from kernelsweep.errors import UserError
from kernelsweep.sweep.build_targets import EMULATOR
from kernelsweep.sweep.schema import nearest

_RECORDING = "recording/"

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


def check_names(names: Iterable[str], shown: str) -> None:
    """Raise UserError if a name in the file `shown` is nearly the emulator's.

    Every GPU's model is the name of a platform, so that other names can't be checked.
    """
    for name in names:
        if name != EMULATOR and (guess := nearest(name, [EMULATOR])):
            raise UserError(f"{shown}: platforms names {name!r}{guess}")
