"""Whether a point's time is possible: no kernel moves bytes or calculates faster than the device's peaks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelsweep.platforms.arithmetic_peak import arithmetic_peak_gflops
from kernelsweep.problems.problem import ARITHMETIC

# How far above a peak a time may be: clocks vary, and the timer has steps.
MARGIN = 1.05

# The fastest arithmetic on operands of a type: tensor cores multiply float32 as tf32. For other types they may be
# faster than the known peak.
_FASTEST = {"float32": "tf32", "tf32": "tf32", "int32": "int32"}


def why_implausible(
    point: Mapping[str, Any], work: Mapping[str, Any], time_us: float, device: Mapping[str, Any]
) -> str | None:
    """Why a point can't have taken so little time, in a sentence, or None if it can.

    work    the work of one run, by unit: bytes and flops are known, and the kind of arithmetic
    device  a device.json

    A point in a hot cache may be faster than the memory.
    """
    rates = []
    if point["cache"] == "cold" and "bytes" in work:
        rates.append(("GB/s", work["bytes"], device["peak_bandwidth_gbs"], "the memory's"))
    types = [work["arithmetic"]] if "arithmetic" in work else [one for one in point.values() if one in ARITHMETIC]
    if len(types) == 1 and "flops" in work:
        arithmetic = _FASTEST.get(types[0])
        peak = arithmetic_peak_gflops(device, arithmetic) if arithmetic else None
        rates.append(("GFLOP/s", work["flops"], peak, f"that of {arithmetic}"))
    for unit, count, peak, whose in rates:
        rate = count / time_us / 1e3
        if peak and rate > MARGIN * peak:
            return (
                f"{time_us:.3f} us would be {rate:,.0f} {unit}, and the peak is {peak:,.0f} ({whose}). Either the "
                "kernel doesn't do all of its work when it is timed, or the problem's work is counted wrong"
            )
    return None
