"""Translation units: which functions of a kernel's file are compiled together, and under which macros and options.

Variants that are template instances share a unit. Variants that differ in macros, in options of nvcc or in its release
need a unit for each set of these.
For nvcc, many instances are spread over several units, which are compiled side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

# The platform that runs kernels on the CPU, and its build target.
EMULATOR = "emulator"

_ARCHITECTURE = re.compile(r"sm_(\d+)[a-z]?")


def architecture_number(name: str | None) -> int | None:
    """The number of an architecture: 90 for sm_90 and sm_90a; None for other texts, such as native."""
    match = _ARCHITECTURE.fullmatch(name or "")
    return int(match[1]) if match else None


# The most variants in a unit for nvcc. A unit of its own costs half a second; eight of matmul's instances take four.
MOST_VARIANTS = 8

# Begins the names of the variants and functions of a kernel's earlier version, where both are loaded.
EARLIER = "earlier version: "

# Stands for the CUDA toolkit's release among what a unit is given.
TOOLKIT = "CUDA toolkit"

# Separates the functions in the name of a variant that launches several.
_BETWEEN = "; "


@dataclass(frozen=True)
class Unit:
    """A translation unit.

    given     what the compiler is given for this unit alone: values by macro, options without a value, and by TOOLKIT
              its release
    variants  the C++ names of the functions that each variant launches
    """

    given: Mapping[str, str]
    variants: Sequence[Sequence[str]]

    @property
    def macros(self) -> dict[str, str]:
        """The macros that the compiler defines, with their values."""
        return {name: value for name, value in self.given.items() if name.isidentifier()}

    @property
    def options(self) -> list[str]:
        """Options of nvcc that only some variants have."""
        return [name for name in self.given if not name.isidentifier() and name != TOOLKIT]

    @property
    def toolkit(self) -> str:
        """The release of the CUDA toolkit whose nvcc compiles it, such as 13.0; empty for the usual one."""
        return self.given.get(TOOLKIT, "")

    @property
    def functions(self) -> list[str]:
        """The C++ names of all functions, without duplicates."""
        return list(dict.fromkeys(function for functions in self.variants for function in functions))


def variant_name(functions: Sequence[str], given: Mapping[str, str]) -> str:
    """The name of a variant, or of a single function: the C++ names, then in brackets what their unit is given."""
    shown = " ".join(name if name.startswith("-") else f"{name}={value}" for name, value in given.items())
    return _BETWEEN.join(functions) + (f" [{shown}]" if shown else "")


def units_of(variants: Iterable[tuple[Sequence[str], Mapping[str, str]]]) -> list[Unit]:
    """The units of variants, each by its functions and what its unit is given: sorted, without duplicates."""
    found: dict[tuple[tuple[str, str], ...], set[tuple[str, ...]]] = {}
    for functions, given in variants:
        found.setdefault(tuple(given.items()), set()).add(tuple(functions))
    return [Unit(dict(given), sorted(found[given])) for given in sorted(found)]


def merged_units(several: Iterable[Iterable[Unit]]) -> list[Unit]:
    """The units that hold all variants of several lists of units."""
    return units_of((functions, unit.given) for units in several for unit in units for functions in unit.variants)


def spread_units(units: Iterable[Unit]) -> list[Unit]:
    """The units with at most MOST_VARIANTS variants each.

    Variants of several functions stay together: two of them may share a function, and its variables in global memory.
    """
    spread = []
    for unit in units:
        most = MOST_VARIANTS if all(len(functions) == 1 for functions in unit.variants) else len(unit.variants)
        parts = (unit.variants[start : start + most] for start in range(0, len(unit.variants), most))
        spread += [Unit(unit.given, part) for part in parts]
    return spread
