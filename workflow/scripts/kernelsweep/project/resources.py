"""How many minutes to ask a cluster for, by what a job has to do.

A limit ends a job, and costs what hasn't reached the journal yet; a long one only has it wait longer for its turn. So
these are generous, and the workflow multiplies them by the number of the attempt. On an H200 the points of a full sweep
took 0.03 s each, checked and timed in three visits, and those of the slowest kernel 0.09 s.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from kernelsweep.observe.requests import START_SECONDS as TOOL_START_SECONDS
from kernelsweep.observe.sanitizer.selection import MOST_POINTS

# Snakemake twice, the imports, and a context for each visit: 10 s, where a cluster's file system isn't slow.
START_SECONDS = 300

# Of a point, what comes before its samples: its input, the check, and the kernels' own times where those are long.
PREPARING_SECONDS = 0.1

# Of a point under racecheck, compute-sanitizer's slowest tool.
SANITIZING_SECONDS = 5


def measuring_minutes(points: int, measuring: Mapping[str, Any]) -> int:
    """For a sweep of so many points, each of them sampled for as long as may be, one of which hangs.

    measuring  config.yaml's
    """
    of_point = PREPARING_SECONDS + measuring["max_seconds"] + measuring["energy_seconds"]
    waiting = measuring["timeout_seconds"] + measuring["max_pause_seconds"]
    return _minutes(START_SECONDS + points * of_point + waiting)


def profiling_minutes(points: int, profiling: Mapping[str, Any]) -> int:
    """For so many points under Nsight Compute, each of which may take its whole time.

    profiling  config.yaml's
    """
    return _minutes(START_SECONDS + TOOL_START_SECONDS + points * profiling["timeout_seconds"])


def sanitizing_minutes(measuring: Mapping[str, Any]) -> int:
    """For one kernel under one of compute-sanitizer's tools, one of whose points hangs."""
    points = MOST_POINTS * SANITIZING_SECONDS + measuring["timeout_seconds"]
    return _minutes(START_SECONDS + TOOL_START_SECONDS + points)


def _minutes(seconds: float) -> int:
    return math.ceil(seconds / 60)
