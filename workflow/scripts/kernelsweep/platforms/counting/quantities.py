"""Counts to metrics, under the names that are used for Nsight Compute's counters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.platforms.emulated_library import Site, Synchronisations

SECTOR_BYTES = 32


@dataclass(frozen=True)
class Counts:
    """The counts of all launches of a point."""

    sites: Sequence[Site]
    synchronisations: Synchronisations

    def total(self, quantity: str, space: str, operation: str | None = None) -> int:
        """The sum of an attribute of Site over the sites of a space and an operation; None stands for all of these."""
        return sum(
            getattr(site, quantity)
            for site in self.sites
            if space == site.space and operation in (None, site.operation)
        )


def _efficiency(operation: str) -> Callable[[Counts], float | None]:
    """The bytes that lanes requested, in percent of the bytes of the moved sectors; None if there are no sectors."""

    def efficiency(counts: Counts) -> float | None:
        sectors = counts.total("sectors", "global", operation)
        return 100 * counts.total("bytes", "global", operation) / (SECTOR_BYTES * sectors) if sectors else None

    return efficiency


def _sum(quantity: str, space: str, operation: str | None = None) -> Callable[[Counts], float | None]:
    return lambda counts: counts.total(quantity, space, operation)


def _active_lanes(counts: Counts) -> float | None:
    """The mean number of active lanes in a request."""
    requests = sum(site.requests for site in counts.sites)
    return sum(site.lanes for site in counts.sites) / requests if requests else None


# By name: the unit, and a function for the value, which is None if undefined, such as the efficiency of no access.
_METRICS: Mapping[str, tuple[str, Callable[[Counts], float | None]]] = {
    "global_load_efficiency": ("%", _efficiency("load")),
    "global_store_efficiency": ("%", _efficiency("store")),
    "global_load_requests": ("requests", _sum("requests", "global", "load")),
    "global_load_sectors": ("sectors", _sum("sectors", "global", "load")),
    "global_load_bytes": ("bytes", _sum("bytes", "global", "load")),
    "global_store_requests": ("requests", _sum("requests", "global", "store")),
    "global_store_sectors": ("sectors", _sum("sectors", "global", "store")),
    "global_store_bytes": ("bytes", _sum("bytes", "global", "store")),
    "global_atomics": ("requests", _sum("requests", "global", "atomic")),
    "shared_load_requests": ("requests", _sum("requests", "shared", "load")),
    "shared_load_wavefronts": ("wavefronts", _sum("wavefronts", "shared", "load")),
    "shared_store_requests": ("requests", _sum("requests", "shared", "store")),
    "shared_store_wavefronts": ("wavefronts", _sum("wavefronts", "shared", "store")),
    "shared_atomics": ("requests", _sum("requests", "shared", "atomic")),
    "bank_conflict": ("conflicts", _sum("conflicts", "shared")),
    "barriers": ("warps", lambda counts: counts.synchronisations.barriers),
    "warp_synchronisations": ("warps", lambda counts: counts.synchronisations.warp_synchronisations),
    "warp_exchanges": ("warps", lambda counts: counts.synchronisations.warp_exchanges),
    "active_lanes": ("lanes", _active_lanes),
    "partial_requests": ("requests", lambda counts: sum(site.partial for site in counts.sites)),
    "warps": ("warps", lambda counts: counts.synchronisations.warps),
}


# The unit of each metric.
UNIT_OF_METRIC: Mapping[str, str] = {name: unit for name, (unit, _) in _METRICS.items()}


def metrics(counts: Counts) -> dict[str, float]:
    """The value of every metric that the counts define, by name.

    Requests are counted per warp; a sector has 32 bytes; wavefronts are passes of shared memory, and bank_conflict
    counts the wavefronts beyond those that the accesses' width needs. barriers, warp_synchronisations (__syncwarp) and
    warp_exchanges (the other warp-level operations) are counted for each warp that executes one; active_lanes is the
    mean over all requests, and partial_requests counts the requests in which a lane of the warp was inactive.
    """
    values = {name: value(counts) for name, (_, value) in _METRICS.items()}
    return {name: value for name, value in values.items() if value is not None}
