"""The arithmetic peak of a device, against the peaks that NVIDIA's white papers and data sheets print."""

from __future__ import annotations

import pytest

from kernelsweep.device.arithmetic_peak import arithmetic_peak_gflops, why_unknown

A100 = {"name": "A100", "compute_capability": "8.0", "multiprocessors": 108, "multiprocessor_clock_mhz": 1410.0}
H100 = {"name": "H100", "compute_capability": "9.0", "multiprocessors": 132, "multiprocessor_clock_mhz": 1830.0}
H100_BOOST = {**H100, "multiprocessor_clock_mhz": 1980.0}
V100 = {"name": "V100", "compute_capability": "7.0", "multiprocessors": 80, "multiprocessor_clock_mhz": 1530.0}
RTX_3090 = {"name": "3090", "compute_capability": "8.6", "multiprocessors": 82, "multiprocessor_clock_mhz": 1695.0}


@pytest.mark.parametrize(
    ("device", "arithmetic", "printed_tflops"),
    [
        (A100, "float64", 9.7),
        (A100, "float32", 19.5),
        (A100, "int32", 19.5),
        (A100, "tf32", 156.0),
        (V100, "float32", 15.7),
        (H100, "tf32", 494.7),
        (H100_BOOST, "float32", 66.9),
        (H100_BOOST, "int32", 33.5),
        (RTX_3090, "float64", 0.556),
    ],
)
def test_the_peak_is_the_one_that_nvidia_prints(device: dict, arithmetic: str, printed_tflops: float) -> None:
    assert arithmetic_peak_gflops(device, arithmetic) == pytest.approx(1e3 * printed_tflops, rel=0.01)


def test_what_is_unknown_is_said_and_never_guessed() -> None:
    assert arithmetic_peak_gflops(RTX_3090, "tf32") is None
    assert "tf32 is unknown for compute capability 8.6" in why_unknown(RTX_3090, "tf32")
    assert arithmetic_peak_gflops({"name": "the emulator"}, "float32") is None
    assert "names no compute capability" in why_unknown({"name": "the emulator"}, "float32")
