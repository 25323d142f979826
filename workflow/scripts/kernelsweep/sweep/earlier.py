"""The version of each point before its kernel's edit, if all of it was right: both versions can run alternately."""

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
from kernelsweep.sweep.editions import Editions, failed_checks, key_of, place_of, version_of
from kernelsweep.sweep.identity import Identity, identity_sha256
from kernelsweep.sweep.journal import Journal

_BINARY = "binary"


class EarlierVersions:
    """Binaries of earlier versions of a kernel's variants, which the unit store still has.

    An earlier version of a point differs from the current one in its machine code alone: not in its launches, its
    problem, its settings or its device.
    """

    def __init__(self, journal: Journal, store: UnitStore, units: Sequence[Unit], source: str = "") -> None:
        """`units`: those of the current version, whose variants have the same names before; `source`: its source."""
        values = journal.in_order()
        self._source, self._editions = source, Editions(values, failed_checks(journal.paths))
        self._measured: dict[str, tuple[str, str]] = {}  # what other versions share, and the machine code, by version
        for value in values:
            self._add(value)
        wanted = {binary for _, binary in self._measured.values()}
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
        """The version of a point before the edit; None without one."""
        place = place_of(identity)
        before = self._editions.before(place, {place: [version_of(identity)]}, key_of(identity, self._source)) or {}
        key, binary = self._measured.get(before.get(place, ""), ("", ""))
        unit = self._units.get((variant, binary))
        return Partner(binary, unit) if unit and key == _key(identity) else None

    def _add(self, value: Any) -> None:
        """Note a line of the journal, if it is a right visit's."""
        with suppress(KeyError, TypeError, ValueError, AttributeError):  # A sweep's line, or one that was edited.
            if value["outcome"]["status"] == "ok":
                self._measured[version_of(value["of"])] = _key(value["of"]), value["of"]["version"][_BINARY]


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
