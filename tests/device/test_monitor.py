"""The monitor's readings of a GPU, on a pretended NVML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from kernelsweep.device import monitor
from kernelsweep.device.monitor import Monitor

UUID = "GPU-1111aaaa-0000-0000-0000-000000000000"
HANDLE = object()

IDLE = pynvml.nvmlClocksEventReasonGpuIdle
USER_CLOCKS = pynvml.nvmlClocksEventReasonApplicationsClocksSetting
POWER_CAP = pynvml.nvmlClocksEventReasonSwPowerCap
HW_SLOWDOWN = pynvml.nvmlClocksEventReasonHwSlowdown
HW_THERMAL = pynvml.nvmlClocksEventReasonHwThermalSlowdown


@dataclass
class FakeGpu:
    """NVML's readings of the GPU; None if NVML doesn't report one."""

    clock_mhz: int | None = 1980
    temperature_c: int | None = 41
    power_mw: int | None = 123456
    reasons: int | None = 0
    pids: Sequence[int] | None = ()


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> FakeGpu:
    """A GPU in place of the real ones."""
    gpu = FakeGpu()

    def tell(value: Callable[[], Any]) -> Callable[..., Any]:
        def function(handle: object, *_: Any) -> Any:
            assert handle is HANDLE
            if value() is None:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
            return value()

        return function

    def find(uuid: str) -> object:
        if uuid != UUID:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return HANDLE

    for name, function in {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByUUID": find,
        "nvmlDeviceGetClockInfo": tell(lambda: gpu.clock_mhz),
        "nvmlDeviceGetTemperatureV": tell(lambda: gpu.temperature_c),
        "nvmlDeviceGetPowerUsage": tell(lambda: gpu.power_mw),
        "nvmlDeviceGetCurrentClocksEventReasons": tell(lambda: gpu.reasons),
        "nvmlDeviceGetComputeRunningProcesses_v3": tell(
            lambda: None if gpu.pids is None else [SimpleNamespace(pid=pid) for pid in gpu.pids]
        ),
    }.items():
        monkeypatch.setattr(pynvml, name, function)
    return gpu


@pytest.mark.parametrize(
    ("bits", "reasons"),
    [
        (IDLE | USER_CLOCKS, ()),
        (POWER_CAP | IDLE, ("sw_power_cap",)),
        (HW_THERMAL | HW_SLOWDOWN, ("hw_slowdown", "hw_thermal_slowdown")),
    ],
)
def test_only_what_slows_a_kernel_down_is_a_reason(gpu: FakeGpu, bits: int, reasons: tuple[str, ...]) -> None:
    gpu.reasons = bits
    assert Monitor(UUID).conditions().throttle_reasons == reasons


@pytest.mark.parametrize(
    ("listed", "others"),
    [
        pytest.param([], (), id="nothing told"),
        pytest.param([10, 11], (), id="only we"),
        pytest.param([10, 99, 42], (42, 99), id="we and others"),
        pytest.param([10, 77], (), id="we, and one that has ended since"),
        pytest.param([5001, 5000], (), id="we, by the pids of another namespace"),
        pytest.param([5001, 5000, 5002], (5000, 5001, 5002), id="we and another, by pids of another namespace"),
    ],
)
def test_other_processes(
    gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch, listed: list[int], others: tuple[int, ...]
) -> None:
    names = {10: "kernelsweep", 11: "kernelsweep", 99: "python3", 42: "Xorg"}
    monkeypatch.setattr(monitor, "process_name", names.get)
    monkeypatch.setattr(monitor, "own_processes", lambda: [10, 11])
    monkeypatch.setattr(monitor, "_SECONDS_BETWEEN_LISTS", 0.0)
    watching = Monitor(UUID)
    for gpu.pids, found in (listed, others), ([10], ()), (listed, others):
        assert watching.other_processes() == found
