"""The editions of a kernel, in a journal's order, and the one with which an edit is compared."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.results import NOT_CHECKED, NOTES, OTHER_CODE, Row
from kernelsweep.sweep.identity import Identity, identity_sha256
from kernelsweep.sweep.journal import AGAIN, CHECKED_SOURCE, SEARCHED, Journal, readable_values

# A point for which a device has no room tells nothing about its kernel.
_RIGHT = ("ok", "out_of_memory")


@dataclass
class Edition:
    """What ran between two edits.

    key     the kernel's source, the problem, and what both were measured with and on
    points  the hash of the version of each point, by the point
    failed  the visits that failed
    """

    key: tuple[str, str, str]
    points: dict[str, str] = field(default_factory=dict)
    failed: set[tuple[str, int]] = field(default_factory=set)


def place_of(of: Identity) -> str:
    """What all versions of a point have in common."""
    return identity_sha256({"point": of["point"], "version": {}, "settings": of["settings"]})


def version_of(of: Identity) -> str:
    """The hash of a point's version, whichever visit."""
    return identity_sha256({name: of[name] for name in ("point", "version", "settings")})


def key_of(of: Identity, source: str) -> tuple[str, str, str]:
    """What the points of an edition have in common. A point's launches and its machine code are its own."""
    # A search has a protocol of its own.
    shared = {name: value for name, value in of["settings"].items() if not name.startswith("protocol.")}
    return source, identity_sha256({**of["version"], "launches": "", "binary": ""}), identity_sha256(shared)


class Editions:
    """The editions of a kernel in the order in which they ran, and of these the right ones.

    An edition is right if all its points are, and the checks of its source. What a search proposes may always have been
    wrong: such a point counts for nothing.
    """

    def __init__(self, values: Iterable[Any], failed_checks: Collection[str] = ()) -> None:
        """`values`: those of a journal's lines, in their order."""
        self._editions: list[Edition] = []
        self._once_right: set[str] = set()  # points
        sources: dict[str, str] = {}
        for value in values:
            with suppress(KeyError, TypeError, ValueError, AttributeError):  # A sweep's line, or one that was edited.
                self._add(value, sources)
        self._failed_checks = failed_checks

    def before(
        self, newest: str, own: Mapping[str, Collection[str]], key: tuple[str, str, str] | None = None
    ) -> dict[str, str] | None:
        """The newest right edition before an edit: its points' versions; none of the first one, None if none was right.

        newest  the point whose version is the edit's, by place_of()
        own     the versions of the edit's points, by place_of(); several that are the same in other words
        key     that of an edit that has not run, by key_of()

        An edit that brings back a right edition is compared with what was before that one.
        """
        found = next((one for one in self._editions if one.points.get(newest) in own.get(newest, ())), None)
        key = found.key if found else key
        known = [one for one in self._editions if key is None or one.key[2] == key[2]]
        same = [
            at
            for at, one in enumerate(known)
            if one is found
            or (one.key == key and all(one.points[point] in own[point] for point in one.points.keys() & own.keys()))
        ]
        end = same[0] if same and any(self._is_right(known[at]) for at in same) else len(known)
        right = [one for one in known[:end] if self._is_right(one)]
        if known[:end] and not right:
            return None
        # A point that an edit left as it was did not run again.
        return {point: version for one in right for point, version in one.points.items()}

    def _is_right(self, edition: Edition) -> bool:
        return not edition.failed and edition.key[0] not in self._failed_checks

    def _add(self, value: Any, sources: dict[str, str]) -> None:
        of = value["of"]
        place, version = place_of(of), version_of(of)
        source = sources[version] = str(value.get("source_sha256") or sources.get(version, ""))
        key = key_of(of, source)
        latest = self._editions[-1] if self._editions else None
        if latest is None or latest.key != key or latest.points.get(place, version) != version:
            self._editions.append(latest := Edition(key))
        latest.points[place] = version
        if AGAIN not in value:
            visit, status = (version, of["visit"]), value.get("status") or value["outcome"]["status"]
            if status in _RIGHT:
                latest.failed.discard(visit)
                self._once_right.add(place)
            elif SEARCHED not in value or place in self._once_right:
                latest.failed.add(visit)


def note_checks(journal: Journal, source: str, proofs: Iterable[Row]) -> None:
    """Note in a journal whether the checks of a source failed, if that is news.

    proofs  the rows of its proof
    """
    failed = bool(failing(proofs))
    if failed != bool((journal.get(f"{CHECKED_SOURCE} {source}") or {}).get("failed")):
        journal.add(f"{CHECKED_SOURCE} {source}", {CHECKED_SOURCE: source, "failed": failed})


def failing(proofs: Iterable[Row]) -> list[Row]:
    """The findings of a proof that must fail a run."""
    told = ("", NOT_CHECKED, OTHER_CODE, *NOTES)
    return [row for row in proofs if row["finding"] not in told and not row["expected"]]


def failed_checks(journals: Iterable[Path]) -> set[str]:
    """The sources of a kernel whose checks failed, by its journals; beside a GPU, the proof has its own."""
    found: dict[str, bool] = {}
    for path in journals:
        for file in (path, path.parent.parent / "proofs" / path.parent.name / path.name):
            found |= {value[CHECKED_SOURCE]: value["failed"] for value in readable_values(file) if is_of_checks(value)}
    return {source for source, failed in found.items() if failed}


def is_of_checks(value: Any) -> bool:
    """Whether a journal's value is a line on a source's checks, as of note_checks()."""
    return isinstance(value, dict) and CHECKED_SOURCE in value
