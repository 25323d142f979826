"""The targets that kernels are compiled for: the architecture of a GPU, or a form of the emulator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# The platform that runs kernels on the CPU, and its build targets.
EMULATOR = "emulator"
# The emulator that counts accesses to memory.
COUNTING = "counting"

_ARCHITECTURE = re.compile(r"sm_(\d+)[a-z]?")


@dataclass(frozen=True)
class Target:
    """A target that kernels are compiled for.

    is_emulator     whether they are compiled by g++, with the emulator's headers; it can't run what only a GPU can
    counts          whether the emulator counts accesses to memory
    runs_undefined  whether kernels with undefined behaviour are run
    architecture    the GPU's, such as 90 for sm_90; None for any, and for the emulator
    """

    is_emulator: bool = False
    counts: bool = False
    runs_undefined: bool = True
    architecture: int | None = None


_EMULATORS: Mapping[str | None, Target] = {
    EMULATOR: Target(is_emulator=True, runs_undefined=False),
    COUNTING: Target(is_emulator=True, counts=True),  # Counting shows what a kernel with undefined behaviour does.
}


def target_named(name: str | None) -> Target:
    """The target with a name: an architecture such as sm_90, "emulator" or "counting"; None for a GPU of any kind."""
    return _EMULATORS.get(name) or Target(architecture=architecture_number(name))


def architecture_number(name: str | None) -> int | None:
    """The number of an architecture: 90 for sm_90 and sm_90a; None for other texts, such as native."""
    match = _ARCHITECTURE.fullmatch(name or "")
    return int(match[1]) if match else None
