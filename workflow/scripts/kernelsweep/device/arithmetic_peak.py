"""The arithmetic that a GPU can do at most, by the type of the operands: the roof where memory is no limit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# The multiply-adds that a multiprocessor ends in a clock cycle, by compute capability.
#
# From printed peaks, operations / (2 x multiprocessors x clock): NVIDIA's tables of V100, A100 and H100 SXM5, and data
# sheets of cards with 7.5, 8.6 and 8.9. For 7.x they agree with the CUDA C++ Programming Guide, "Throughput of Native
# Arithmetic Instructions". float16 is that of pairs (half2); on 8.6 and 8.9 it is as fast as float32. tf32 is on tensor
# cores, without sparsity. Where products of one compute capability differ, as GeForce and RTX professional do, tensor
# cores are left out.
_A_CYCLE: Mapping[str, Mapping[str, int]] = {
    "7.0": {"float64": 32, "float32": 64, "float16": 128, "int32": 64},
    "7.5": {"float64": 2, "float32": 64, "float16": 128, "int32": 64},
    "8.0": {"float64": 32, "float32": 64, "float16": 256, "int32": 64, "tf32": 512},
    "8.6": {"float64": 2, "float32": 128, "float16": 128, "int32": 64},
    "8.9": {"float64": 2, "float32": 128, "float16": 128, "int32": 64},
    "9.0": {"float64": 64, "float32": 128, "float16": 256, "int32": 64, "tf32": 1024},
}

_OPERATIONS_OF_A_MULTIPLY_ADD = 2


def arithmetic_peak_gflops(device: Mapping[str, Any], arithmetic: str) -> float | None:
    """The peak of a kind of arithmetic in 10^9 operations a second; None where it is unknown.

    arithmetic  one of problems.problem.ARITHMETIC
    device      a device.json: its compute_capability, multiprocessors and multiprocessor_clock_mhz (the highest)

    Operations a cycle and multiprocessor, times multiprocessors, times the clock. Tensor cores count for tf32 only: a
    kernel that multiplies float64 or float16 on them can be faster than that type's peak.
    """
    a_cycle = _A_CYCLE.get(str(device.get("compute_capability")), {}).get(arithmetic)
    clock_mhz = device.get("multiprocessor_clock_mhz")
    if a_cycle is None or not clock_mhz:
        return None
    return float(_OPERATIONS_OF_A_MULTIPLY_ADD * a_cycle * device["multiprocessors"] * clock_mhz / 1e3)


def why_unknown(device: Mapping[str, Any], arithmetic: str) -> str:
    """A sentence for readers where arithmetic_peak_gflops() is None."""
    capability = device.get("compute_capability")
    if not capability or not device.get("multiprocessor_clock_mhz"):
        return f"The arithmetic peak is unknown: {device['name']} names no compute capability or no clock."
    return f"The peak of {arithmetic} is unknown for compute capability {capability}."


def share_of_nearest_peak(
    bandwidth_gbs: float | None, gflops: float | None, arithmetic: str | None, device: Mapping[str, Any]
) -> tuple[float | None, str]:
    """What a point reaches of the device's nearest peak, as a fraction, and the peak: "memory" or the arithmetic.

    bandwidth_gbs, gflops  the throughputs that follow from the point's work; None where it names no bytes, or no flops
    arithmetic             the kind of the flops, one of problems.problem.ARITHMETIC; None if it is unknown

    The larger share says which peak limits the point. (None, "") without any. Method: Williams, Waterman and Patterson,
    Roofline, Communications of the ACM 52 (2009): a point's roof is the lower of the two.
    """
    peaks = {"memory": device.get("peak_bandwidth_gbs")}
    reached = {"memory": bandwidth_gbs}
    if arithmetic:
        peaks[arithmetic], reached[arithmetic] = arithmetic_peak_gflops(device, arithmetic), gflops
    shares = {of: value / peak for of, value in reached.items() if value and (peak := peaks[of])}
    if not shares:
        return None, ""
    nearest = max(shares, key=shares.__getitem__)
    return shares[nearest], nearest
