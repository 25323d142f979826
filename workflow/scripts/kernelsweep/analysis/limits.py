"""What the memory can do, as measured beside a study's kernels, for the share of it that each of them reaches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas

from kernelsweep.analysis.reference import at_reference, timed
from kernelsweep.results import DRIVER_LIMITS, LIMIT_PREFIX


def limit_bandwidths(
    study: Mapping[str, Any], measurements: pandas.DataFrame, device: Mapping[str, Any]
) -> pandas.DataFrame:
    """The study's limits at its reference point and at every other array size and cache state.

    Columns: limit, cache, array_size, bandwidth_gbs: of the driver's copy or fill, or of the fastest of a kernel's
    block sizes, unroll factors and grids. A row for each that has a time.
    """
    rows = at_reference(study, measurements, free=("array_size", "cache", "block_size"))
    with_times = timed(rows, device)
    parts = [with_times[with_times["kernel"] == limit_kernel(limit)].assign(limit=limit) for limit in study["limits"]]
    of_limits = pandas.concat([with_times.iloc[:0].assign(limit=""), *parts])
    fastest = of_limits.groupby(["limit", "cache", "array_size"], sort=True)["bandwidth_gbs"].max()
    return fastest.reset_index()


def limit_kernel(limit: str) -> str:
    """What a limit's rows are called where kernels are named."""
    return f"{LIMIT_PREFIX}{limit}" if limit in DRIVER_LIMITS else limit


def limit_text(limit: str) -> str:
    """A limit for readers."""
    return f"the driver's {limit}" if limit in DRIVER_LIMITS else f"{limit} at its fastest"
