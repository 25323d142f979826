"""A line of advice from a step's counters: the first rule that holds, by thresholds that docs/profiling.md lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A step's values by metric, with `peak_share`, the share of the memory's peak that DRAM traffic or the inputs reach.
Values = Mapping[str, float]


@dataclass(frozen=True)
class Rule:
    """One rule.

    share      the percentage that is judged; KeyError where a counter is missing
    threshold  it holds from this percentage on, or up to it where `most` is true
    words      the advice, with the percentage as {share}
    """

    name: str
    share: Callable[[Values], float]
    threshold: float
    most: bool
    words: str


def _conflicts(values: Values) -> float:
    """Passes through the banks beyond one for each request, in percent of the requests."""
    requests = values["shared_load_requests"] + values["shared_store_requests"]
    passes = values["shared_load_wavefronts"] + values["shared_store_wavefronts"]
    return 100 * (passes / requests - 1) if requests else 0.0


# In the order of what to mend first: nothing else helps a kernel that memory limits.
RULES = (
    Rule(
        "memory", lambda v: v["peak_share"], 80, False, "Bound by memory: {share}% of its peak. Only fewer bytes help."
    ),
    Rule(
        "coalescing",
        lambda v: v["global_load_efficiency"],
        75,
        True,
        "Of the bytes that loads bring, {share}% are used: let neighbouring lanes read neighbouring elements.",
    ),
    Rule(
        "divergence",
        lambda v: v["branch_uniformity"],
        90,
        True,
        "At {share}% of the branches, a warp's lanes go the same way: let whole warps fall idle instead of lanes.",
    ),
    Rule("banks", _conflicts, 25, False, "Bank conflicts: {share}% more passes through shared memory than requests."),
    Rule(
        "barriers",
        lambda v: v["barrier_stall"],
        25,
        False,
        "Warps wait at barriers for {share}% of their time: use fewer barriers, or smaller blocks.",
    ),
    Rule(
        "occupancy",
        lambda v: v["achieved_occupancy"],
        50,
        True,
        "{share}% of the warps that fit a multiprocessor are there: use more blocks, or fewer registers.",
    ),
)


def advice(values: Values) -> str:
    """The first rule's advice as a sentence; "" where no rule holds."""
    for rule in RULES:
        try:
            share = rule.share(values)
        except KeyError:
            continue
        if share <= rule.threshold if rule.most else share >= rule.threshold:
            return rule.words.format(share=f"{share:.0f}")
    return ""
