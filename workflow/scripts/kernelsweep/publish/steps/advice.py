"""A line of advice from a step's counters: the first rule that holds, by thresholds that docs/profiling.md lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

# A step's values by metric, with `peak_share`, the share of the memory's peak that DRAM traffic or the inputs reach.
Values = Mapping[str, float]


@dataclass(frozen=True)
class Rule:
    """One rule.

    needs      the metrics without which it says nothing
    share      the percentage that is judged
    threshold  it holds from this percentage on, or up to it where `most` is true
    words      the advice, with the percentage as {share}
    """

    name: str
    needs: tuple[str, ...]
    share: Callable[[Values], float]
    threshold: float
    most: bool
    words: str

    def holds(self, values: Values) -> bool:
        """Whether the rule holds for a step with all the metrics that it needs."""
        if not set(self.needs) <= set(values):
            return False
        share = self.share(values)
        return share <= self.threshold if self.most else share >= self.threshold


def _conflicts(values: Values) -> float:
    """Passes through the banks beyond one for each request, in percent of the requests."""
    requests = values["shared_load_requests"] + values["shared_store_requests"]
    passes = values["shared_load_wavefronts"] + values["shared_store_wavefronts"]
    return 100 * (passes / requests - 1) if requests else 0.0


# In the order of what to mend first: nothing else helps a kernel that memory limits.
RULES = (
    Rule(
        name="memory",
        needs=("peak_share",),
        share=lambda values: values["peak_share"],
        threshold=80.0,
        most=False,
        words="bound by memory: {share:.0f}% of its peak. Only fewer bytes would help",
    ),
    Rule(
        name="coalescing",
        needs=("global_load_efficiency",),
        share=lambda values: values["global_load_efficiency"],
        threshold=75.0,
        most=True,
        words="of the bytes that loads bring from global memory, {share:.0f}% are used: let neighbouring lanes read"
        " neighbouring elements",
    ),
    Rule(
        name="lanes",
        needs=("executing_threads",),
        share=lambda values: 100 * values["executing_threads"] / 32,
        threshold=75.0,
        most=True,
        words="{share:.0f}% of a warp's lanes work in an average instruction: let whole warps fall idle instead",
    ),
    Rule(
        name="banks",
        needs=(
            "shared_load_requests",
            "shared_load_wavefronts",
            "shared_store_requests",
            "shared_store_wavefronts",
        ),
        share=_conflicts,
        threshold=25.0,
        most=False,
        words="bank conflicts: {share:.0f}% more passes through shared memory than requests",
    ),
    Rule(
        name="barriers",
        needs=("barrier_stall",),
        share=lambda values: values["barrier_stall"],
        threshold=25.0,
        most=False,
        words="warps wait at barriers for {share:.0f}% of their stalls: fewer barriers, or smaller blocks",
    ),
    Rule(
        name="occupancy",
        needs=("achieved_occupancy",),
        share=lambda values: values["achieved_occupancy"],
        threshold=50.0,
        most=True,
        words="{share:.0f}% of the warps that a multiprocessor can hold are there: more blocks, or fewer registers",
    ),
)


def advice(values: Values) -> str:
    """The first rule's advice as a sentence; "" where no rule holds."""
    for rule in RULES:
        if rule.holds(values):
            text = rule.words.format(share=rule.share(values))
            return f"{text[:1].upper()}{text[1:]}."
    return ""
