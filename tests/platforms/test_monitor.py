"""The monitor's readings of a GPU, on a pretended NVML; and the energy of a run, on a pretended counter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import pynvml
import pytest

from kernelsweep.measure.point.timing import energy_of_run
from kernelsweep.platforms import monitor
from kernelsweep.platforms.monitor import Monitor
from kernelsweep.platforms.platform import Platform

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
    energy_mj: int | None = 7_000_000_000
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
        "nvmlDeviceGetTotalEnergyConsumption": tell(lambda: gpu.energy_mj),
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


# Energy

WATTS_AT_WORK, WATTS_IDLE = 300.0, 80.0
STEP_SECONDS = 0.1


class Counter:
    """A pretended device with a clock and an energy counter that moves every 100 ms, as on an H200."""

    def __init__(self, queueing_seconds: float) -> None:
        self.now = 0.0
        self._queueing = queueing_seconds
        self._done_at = 0.0  # when all queued work will have been run
        self._millijoules = 0.0
        self._shown, self._shown_at = 0, 0.0

    def clock(self) -> float:
        return self.now

    def run(self, seconds: float) -> None:
        """Queue `seconds` of work."""
        self._pass(self._queueing)
        self._done_at = max(self._done_at, self.now) + seconds

    def synchronize(self) -> None:
        self._pass(max(0.0, self._done_at - self.now))

    def energy_mj(self) -> int | None:
        self._pass(0.004)
        return self._shown

    def _pass(self, seconds: float) -> None:
        at_work = min(seconds, max(0.0, self._done_at - self.now))
        self._millijoules += 1000 * (at_work * WATTS_AT_WORK + (seconds - at_work) * WATTS_IDLE)
        self.now += seconds
        if self.now - self._shown_at >= STEP_SECONDS:
            self._shown, self._shown_at = int(self._millijoules), self.now


@pytest.mark.parametrize("prepare_us", [0, 40])
def test_a_runs_energy_is_its_own(prepare_us: int) -> None:
    # Pins: the energy of flushing the cache counted as the kernel's; and a counter that is read between its steps.
    device = Counter(queueing_seconds=2e-6)
    prepare = (lambda: device.run(prepare_us * 1e-6)) if prepare_us else None
    energy = energy_of_run(cast(Platform, device), lambda: device.run(60e-6), prepare, 1.0, device.clock)
    assert energy and abs(energy.value_mj - 60e-6 * WATTS_AT_WORK * 1000) <= energy.error_mj
    # A read takes place every 50 ms, so the second is known to 5%; that of the preparation, too.
    assert energy.error_mj < 0.07 * energy.value_mj * (1 if prepare is None else 2.5)


def test_no_energy_where_the_device_waits_for_the_host() -> None:
    device = Counter(queueing_seconds=10e-6)
    assert energy_of_run(cast(Platform, device), lambda: device.run(3e-6), None, 1.0, device.clock) is None
