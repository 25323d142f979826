"""Counts to metrics, under the names that are used for Nsight Compute's counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cuda_emulator.library import Site, Synchronisations

SECTOR_BYTES = 32

_BY_OPERATION = {
    f"{space}_{operation}_{quantity}": quantity
    for space, quantities in {"global": ("requests", "sectors", "bytes"), "shared": ("requests", "wavefronts")}.items()
    for operation in ("load", "store")
    for quantity in quantities
}
# By name, in the order of a point's rows.
UNIT_OF_METRIC: Mapping[str, str] = {
    **dict.fromkeys(("global_load_efficiency", "global_store_efficiency"), "%"),
    **_BY_OPERATION,
    **dict.fromkeys(("global_atomics", "shared_atomics"), "requests"),
    "bank_conflict": "conflicts",
    **dict.fromkeys(("barriers", "warp_synchronisations", "warp_exchanges", "warps"), "warps"),
    "active_lanes": "lanes",
    "partial_requests": "requests",
}


def metrics(sites: Iterable[Site], synchronisations: Synchronisations) -> dict[str, float]:
    """The value of every metric that the counts of a point's launches define, by name.

    Requests are counted per warp; a sector has 32 bytes; wavefronts are passes of shared memory, and bank_conflict
    counts the wavefronts beyond those that the accesses' width needs. An efficiency is the bytes that lanes requested,
    in percent of the bytes of the moved sectors; that of no access is missing. barriers, warp_synchronisations
    (__syncwarp) and warp_exchanges (the other warp-level operations) are counted for each warp that executes one;
    active_lanes is the mean over all requests, and partial_requests counts the requests in which a lane of the warp was
    inactive.
    """
    total: Counter[str] = Counter()
    for site in (one for one in sites if one.requests):  # Most are other variants'.
        accesses = f"{site.space}_{site.operation}"
        for quantity in ("requests", "lanes", "partial", "bytes", "sectors", "wavefronts", "conflicts"):
            count = getattr(site, quantity)
            total[f"{accesses}_{quantity}"] += count
            total[quantity] += count
    values: dict[str, float] = {name: total[name] for name in _BY_OPERATION}
    for operation in ("load", "store"):
        if sectors := total[f"global_{operation}_sectors"]:
            asked = total[f"global_{operation}_bytes"]
            values[f"global_{operation}_efficiency"] = 100 * asked / (SECTOR_BYTES * sectors)
    for space in ("global", "shared"):
        values[f"{space}_atomics"] = total[f"{space}_atomic_requests"]
    if total["requests"]:
        values["active_lanes"] = total["lanes"] / total["requests"]
    values |= {"bank_conflict": total["conflicts"], "partial_requests": total["partial"], **synchronisations._asdict()}
    return {name: values[name] for name in UNIT_OF_METRIC if name in values}
