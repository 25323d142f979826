"""Translation units: which functions of a kernel's file are compiled together, and under which macros.

Variants that are template instances share a unit. Variants that differ in macros need a unit for each set of macros.
For nvcc, many instances are spread over several units, which are compiled side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The most variants in a unit for nvcc. A unit of its own costs half a second; eight of matmul's instances take four.
MOST_VARIANTS = 8

# Begins the names of the variants and functions of a kernel's earlier version, where both are loaded.
EARLIER = "earlier version: "

# Separates the functions in the name of a variant that launches several.
_BETWEEN = "; "


@dataclass(frozen=True)
class Unit:
    """A translation unit.

    macros    values by macro, which the compiler defines
    variants  the C++ names of the functions that each variant launches
    """

    macros: Mapping[str, str]
    variants: Sequence[Sequence[str]]

    @property
    def functions(self) -> list[str]:
        """The C++ names of all functions, without duplicates."""
        return list(dict.fromkeys(function for functions in self.variants for function in functions))


def variant_name(functions: Sequence[str], macros: Mapping[str, str]) -> str:
    """The name of a variant, or of a single function: the C++ names, then the macros in brackets."""
    defined = " ".join(f"{name}={value}" for name, value in macros.items())
    return _BETWEEN.join(functions) + (f" [{defined}]" if defined else "")


def units_of(variants: Iterable[tuple[Sequence[str], Mapping[str, str]]]) -> list[Unit]:
    """The units of variants, each given by its functions and macros: sorted, without duplicates."""
    by_macros: dict[tuple[tuple[str, str], ...], set[tuple[str, ...]]] = {}
    for functions, macros in variants:
        by_macros.setdefault(tuple(macros.items()), set()).add(tuple(functions))
    return [Unit(dict(macros), sorted(by_macros[macros])) for macros in sorted(by_macros)]


def merged_units(several: Iterable[Iterable[Unit]]) -> list[Unit]:
    """The units with the variants of all."""
    return units_of((functions, unit.macros) for units in several for unit in units for functions in unit.variants)


def spread_units(units: Iterable[Unit], most_variants: int = MOST_VARIANTS) -> list[Unit]:
    """The units with at most `most_variants` variants each.

    Variants of several functions stay together: two of them may share a function, and its variables in global memory.
    """
    spread = []
    for unit in units:
        most = most_variants if all(len(functions) == 1 for functions in unit.variants) else len(unit.variants)
        spread += [
            Unit(unit.macros, unit.variants[start : start + most]) for start in range(0, len(unit.variants), most)
        ]
    return spread


def read_units(values: Iterable[Mapping[str, Any]]) -> list[Unit]:
    """The units that a job's parameters describe."""
    return [Unit(value["macros"], value["variants"]) for value in values]
