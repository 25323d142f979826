"""The memory's limits as measured beside a study's kernels: the driver's copy and fill, and kernels that only read."""

from __future__ import annotations

import pandas

from kernelsweep.analysis.reference import at_reference, timed
from kernelsweep.analysis.study_data import StudyData
from kernelsweep.results import DRIVER_LIMITS, LIMIT_PREFIX


def limit_bandwidths(data: StudyData) -> pandas.DataFrame:
    """The bandwidth of each of the study's limits, at every array size and cache state with a time.

    Columns: limit, cache, array_size, bandwidth_gbs. A kernel that is a limit counts at its fastest block size, unroll
    factor and grid.
    """
    rows = at_reference(data.settings, data.measurements, free=("array_size", "cache", "block_size"))
    with_times = timed(rows, data.device)
    limits = data.settings.limits
    parts = [with_times[with_times["kernel"] == limit_kernel(limit)].assign(limit=limit) for limit in limits]
    of_limits = pandas.concat([with_times.iloc[:0].assign(limit=""), *parts])
    fastest = of_limits.groupby(["limit", "cache", "array_size"], sort=True)["bandwidth_gbs"].max()
    return fastest.reset_index()


def limit_kernel(limit: str) -> str:
    """The value of the column kernel in a limit's rows."""
    return f"{LIMIT_PREFIX}{limit}" if limit in DRIVER_LIMITS else limit


def limit_text(limit: str) -> str:
    """A limit for readers."""
    return f"the driver's {limit}" if limit in DRIVER_LIMITS else f"{limit} at its fastest"
