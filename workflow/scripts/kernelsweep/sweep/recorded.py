"""Visits in a journal: their outcomes under the hashes of their identities."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kernelsweep.device.outcome import Outcome, ended_early, outcome_values, read_outcome
from kernelsweep.sweep.identity import Identity, identity_sha256
from kernelsweep.sweep.journal import AGAIN, Journal


def known_outcome(journal: Journal, identity: Identity, short_counts: bool = False) -> Outcome | None:
    """The outcome of a visit that the journal has; None for one that is made again: failures are.

    short_counts  whether a visit counts that ended once its pairs had decided
    """
    latest = _latest(journal, identity_sha256(identity))
    if not latest or latest.status != "ok":
        return None
    return None if not short_counts and any(map(ended_early, latest.visits)) else latest


def _latest(journal: Journal, key: str) -> Outcome | None:
    """The outcome of the last visit with an identity's hash, of this run or of earlier ones."""
    try:
        return read_outcome((journal.get(key) or {})["outcome"])
    except (KeyError, TypeError, ValueError):  # Not there, or a line that was edited.
        return None


def recorded(journal: Journal, outcome: Outcome, identity: Identity, source: Mapping[str, Any]) -> Outcome:
    """The outcome of a visit with what the journal says of earlier ones; it is added there with `source`.

    Raises UserError where it can't be.
    """
    # The key is a hash. The hashed values are stored as well, for comparisons with later measurements.
    when, key = time.strftime("%FT%TZ", time.gmtime()), identity_sha256(identity)
    if earlier := _latest(journal, key):
        same = (earlier.status, earlier.message) == (outcome.status, outcome.message)
        wrong = earlier.message if earlier.status == "wrong_result" else earlier.once_wrong
        outcome = replace(outcome, once_wrong=wrong, is_repeated=outcome.status != "ok" and same)
    journal.add(key, {"measured": when, "outcome": outcome_values(outcome), "of": identity, **source})
    return outcome


def note_return(journal: Journal, current: Mapping[str, str]) -> None:
    """Note which versions an edit brought back: the next edit is compared with these, and not with what was between.

    So is a version that an edit left as it was, if its source failed elsewhere: it is that of a right source, too.

    current  by the hash of the identity of each of today's points, without a visit's number: the kernel's source
    """
    latest: dict[str, tuple[str, str]] = {}  # by point and settings, when a version was there last, and which
    known: dict[str, Identity] = {}
    sources: dict[str, tuple[str, str]] = {}  # of each version, when it was there last, and with which source
    failed = set()
    for value in journal.values():
        with suppress(KeyError, TypeError, ValueError):  # A sweep's line, or one that was edited.
            of = {name: value["of"][name] for name in ("point", "version", "settings")}
            place, when = _place(of), str(value.get(AGAIN) or value["measured"])
            if when >= latest.get(place, ("",))[0]:
                latest[place] = when, identity_sha256(of)
            known[identity_sha256(of)] = of
            source = str(value.get("source_sha256", ""))
            sources[identity_sha256(of)] = max(sources.get(identity_sha256(of), ("", "")), (when, source))
            if AGAIN not in value and value["outcome"]["status"] != "ok":
                failed.add(source)
    now = time.strftime("%FT%TZ", time.gmtime())
    for version in current.keys() & known.keys():
        was = sources[version][1]
        if latest[_place(known[version])][1] != version or (was != current[version] and was in failed):
            journal.add(f"{AGAIN} {version}", {"of": known[version], AGAIN: now, "source_sha256": current[version]})


def _place(of: Identity) -> str:
    """What all versions of a point have in common."""
    return identity_sha256({**of, "version": {}})
