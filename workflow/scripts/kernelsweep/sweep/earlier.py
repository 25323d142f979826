"""The version of each point before its kernel's latest edit, so that both versions can run alternately."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from kernelsweep.compile.build import variant_reports
from kernelsweep.compile.built_unit import BuiltUnit
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.request import Partner
from kernelsweep.study.kernels.units import EARLIER, Unit, variant_name
from kernelsweep.study.point import Point
from kernelsweep.sweep.identity import Identity, identity_sha256
from kernelsweep.sweep.journal import AGAIN, Journal

_BINARY = "binary"


class EarlierVersions:
    """Binaries of earlier versions of a kernel's variants, which the unit store still has.

    An earlier version of a point differs from the current one in its machine code alone: not in its launches, its
    problem, its settings or its device.
    """

    def __init__(self, journal: Journal, store: UnitStore, units: Sequence[Unit]) -> None:
        """`units`: those of the current version, whose variants have the same names before."""
        self._measured: dict[str, dict[str, str]] = {}  # when each version of a point was last, by its machine code
        for value in journal.values():
            self._add(value)
        wanted = {binary for versions in self._measured.values() for binary in versions}
        self._units: dict[tuple[str, str], BuiltUnit] = {}
        variants = [(names, unit.given) for unit in units for names in unit.variants]
        kept = store.units(lambda functions: any(functions.keys() >= {*names} for names, _ in variants))
        for file, functions in kept if wanted else []:
            for names, given in variants:
                if not functions.keys() >= {*names}:
                    continue
                entries = variant_reports(Unit(given, [names]), {name: functions[name] for name in names})
                binary = entries[variant_name(names, given)]["binary_sha256"]
                if binary in wanted:
                    renamed = {f"{EARLIER}{name}": entry for name, entry in entries.items()}
                    self._units[variant_name(names, given), binary] = BuiltUnit(file, renamed)

    def of(self, identity: Identity, variant: str) -> Partner | None:
        """The latest earlier version of a point; None without one."""
        versions = self._measured.get(_key(identity), {})
        others = versions.keys() - {identity["version"].get(_BINARY)}
        binary = max(others, key=versions.__getitem__, default="")
        unit = self._units.get((variant, binary))
        return Partner(binary, unit) if unit else None

    def _add(self, value: Any) -> None:
        """Note a line of the journal, if it is a right visit's, or of a version that is there again."""
        try:
            if AGAIN in value or value["outcome"]["status"] == "ok":
                versions = self._measured.setdefault(_key(value["of"]), {})
                binary, when = value["of"]["version"][_BINARY], str(value.get(AGAIN) or value["measured"])
                versions[binary] = max(when, versions.get(binary, ""))
        except (KeyError, TypeError, ValueError, AttributeError):  # A sweep's line, or one that was edited.
            return


def finalists(journal: Journal) -> set[Point]:
    """The points of which the journal has right visits after the first: in a search, those that won, and their ties."""
    found = set()
    for value in journal.values():
        with suppress(KeyError, TypeError, ValueError, AttributeError):  # As in EarlierVersions.
            if value["outcome"]["status"] == "ok" and value["of"]["visit"] > 0:
                found.add(Point(value["of"]["point"]))
    return found


def _key(identity: Identity) -> str:
    """What versions of a point have in common that differ in their machine code alone."""
    version = {name: value for name, value in identity["version"].items() if name != _BINARY}
    return identity_sha256({"point": identity["point"], "version": version, "settings": identity["settings"]})
