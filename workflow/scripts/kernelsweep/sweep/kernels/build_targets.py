"""The targets that kernels are compiled for: the architecture of a GPU, or the emulator."""

from __future__ import annotations

import re
from dataclasses import dataclass

# The platform that runs kernels on the CPU, and its build target.
EMULATOR = "emulator"

_ARCHITECTURE = re.compile(r"sm_(\d+)[a-z]?")


@dataclass(frozen=True)
class Target:
    """A target that kernels are compiled for.

    is_emulator   whether they are compiled by g++, with the emulator's headers; it can't run what only a GPU can
    architecture  the GPU's, such as 90 for sm_90; None for any, and for the emulator
    """

    is_emulator: bool = False
    architecture: int | None = None


def target_named(name: str | None) -> Target:
    """The target with a name: an architecture such as sm_90, or the emulator; None for a GPU of any kind."""
    return Target(name == EMULATOR, architecture_number(name))


def architecture_number(name: str | None) -> int | None:
    """The number of an architecture: 90 for sm_90 and sm_90a; None for other texts, such as native."""
    match = _ARCHITECTURE.fullmatch(name or "")
    return int(match[1]) if match else None
