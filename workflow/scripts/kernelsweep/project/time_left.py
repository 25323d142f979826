"""How long a run's jobs still take: like those of their rule that have ended."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping

# A job is expected to take at most this many times as long as the others of its rule took, and so many seconds more.
_LONGER, _SECONDS_MORE = 2.0, 5.0

# An estimate that is more than this many times the least before is not told: a reader plans with that one.
_MOST_RISE = 4 / 3


class TimeLeft:
    """The jobs of a run by their rules. Times are seconds of one clock; a job is any hashable name."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()
        self._running: dict[object, tuple[str, float]] = {}
        self._took: dict[str, list[float]] = {}
        self._started = 0.0
        self._least: float | None = None

    def plan(self, jobs: Mapping[str, int]) -> None:
        """Note how many jobs each rule has."""
        self._waiting = Counter(jobs)

    def begin(self, job: object, rule: str, now: float) -> None:
        """Note that a job begins."""
        self._started = self._started or now
        self._waiting[rule] -= 1
        self._running[job] = rule, now

    def end(self, job: object, now: float) -> None:
        """Note that a job has ended."""
        if job in self._running:
            rule, begun = self._running.pop(job)
            self._took.setdefault(rule, []).append(now - begun)

    def seconds(self, now: float) -> float | None:
        """The seconds left. None where nothing tells: a job takes far longer than its rule's others, the jobs that were
        planned with took too little, or, at first, most of those that wait are of rules without an ended one.

        Jobs of a rule without an ended one count as the mean of all that have ended. It is divided by the number of
        jobs that ran at once so far.
        """
        ended = [seconds for of_rule in self._took.values() for seconds in of_rule]
        unknown = sum(max(0, count) for rule, count in self._waiting.items() if rule not in self._took)
        if not ended or (self._least is None and 2 * unknown > sum(max(0, count) for count in self._waiting.values())):
            return None
        mean = statistics.fmean(ended)
        likely = {rule: statistics.fmean(seconds) for rule, seconds in self._took.items()}
        left = sum(max(0, count) * likely.get(rule, mean) for rule, count in self._waiting.items())
        spent = sum(ended)
        for rule, begun in self._running.values():
            seconds, ran = likely.get(rule, mean), now - begun
            if ran > _LONGER * seconds + _SECONDS_MORE:
                return None
            left += max(0.0, seconds - ran)
            spent += ran
        left /= max(1.0, spent / max(now - self._started, 1e-9))
        if self._least is not None and left > _MOST_RISE * self._least:
            return None
        self._least = left if self._least is None else min(left, self._least)
        return left
