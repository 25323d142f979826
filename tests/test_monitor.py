"""What the monitor reads of a GPU, and when samples are taken again; on a pretended NVML, and once on a real one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pynvml
import pytest

from kernelsweep.platforms.monitor import Monitor, Reading, sample_unthrottled, throttled_during

UUID = "GPU-1111aaaa-0000-0000-0000-000000000000"
BUS_ID = "0000:0A:00.0"
HANDLE = object()

IDLE = pynvml.nvmlClocksEventReasonGpuIdle
USER_CLOCKS = pynvml.nvmlClocksEventReasonApplicationsClocksSetting
POWER_CAP = pynvml.nvmlClocksEventReasonSwPowerCap
HW_SLOWDOWN = pynvml.nvmlClocksEventReasonHwSlowdown
HW_THERMAL = pynvml.nvmlClocksEventReasonHwThermalSlowdown

COUNTS_POWER_CAP = pynvml.NVML_FI_DEV_PERF_POLICY_POWER
COUNTS_THERMAL = pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL


@dataclass
class FakeGpu:
    """What NVML tells of the GPU; None where it doesn't."""

    clock_mhz: int | None = 1980
    temperature_c: int | None = 41
    power_mw: int | None = 123456
    energy_mj: int | None = 7_000_000_000
    reasons: int | None = 0
    counters: dict[int, int] | None = field(default_factory=lambda: {COUNTS_POWER_CAP: 500, COUNTS_THERMAL: 0})
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

    def found(known: str) -> Callable[[str], object]:
        def find(name: str) -> object:
            if name != known:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
            return HANDLE

        return find

    def field_values(handle: object, fields: Sequence[int]) -> list[Any]:
        if gpu.counters is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        return [
            SimpleNamespace(
                fieldId=number,
                nvmlReturn=pynvml.NVML_SUCCESS if number in gpu.counters else pynvml.NVML_ERROR_NOT_SUPPORTED,
                value=SimpleNamespace(ullVal=gpu.counters.get(number, 0)),
            )
            for number in fields
        ]

    for name, function in {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByUUID": found(UUID),
        "nvmlDeviceGetHandleByPciBusId": found(BUS_ID),
        "nvmlDeviceGetUUID": tell(lambda: UUID),
        "nvmlDeviceGetClockInfo": tell(lambda: gpu.clock_mhz),
        "nvmlDeviceGetTemperatureV": tell(lambda: gpu.temperature_c),
        "nvmlDeviceGetPowerUsage": tell(lambda: gpu.power_mw),
        "nvmlDeviceGetTotalEnergyConsumption": tell(lambda: gpu.energy_mj),
        "nvmlDeviceGetCurrentClocksEventReasons": tell(lambda: gpu.reasons),
        "nvmlDeviceGetFieldValues": field_values,
        "nvmlDeviceGetComputeRunningProcesses_v3": tell(
            lambda: None if gpu.pids is None else [SimpleNamespace(pid=pid) for pid in gpu.pids]
        ),
    }.items():
        monkeypatch.setattr(pynvml, name, function)
    return gpu


def reading(*reasons: str, **throttled_ns: int) -> Reading:
    return Reading(1980, 41, 123.4, reasons, 7, throttled_ns)


# Reading


def test_a_reading_has_its_values_in_the_units_of_their_names(gpu: FakeGpu) -> None:
    assert Monitor(UUID).read() == Reading(
        clock_mhz=1980,
        temperature_c=41,
        power_w=123.456,
        throttle_reasons=(),
        energy_mj=7_000_000_000,
        throttled_ns={"sw_power_cap": 500, "sw_thermal_slowdown": 0},
    )


def test_the_gpu_is_found_by_its_place_as_well(gpu: FakeGpu) -> None:
    assert Monitor.at_pci_bus_id(BUS_ID).read() == Monitor(UUID).read()


def test_an_unknown_gpu_is_an_error(gpu: FakeGpu) -> None:
    with pytest.raises(pynvml.NVMLError):
        Monitor("GPU-another")


@pytest.mark.parametrize(
    ("bits", "reasons"),
    [
        (IDLE | USER_CLOCKS, ()),
        (POWER_CAP | IDLE, ("sw_power_cap",)),
        (HW_THERMAL | HW_SLOWDOWN, ("hw_slowdown", "hw_thermal_slowdown")),
        (
            pynvml.nvmlClocksEventReasonAll,
            (
                "sw_power_cap",
                "hw_slowdown",
                "sync_boost",
                "sw_thermal_slowdown",
                "hw_thermal_slowdown",
                "hw_power_brake",
                "display_clock",
            ),
        ),
    ],
)
def test_only_what_slows_a_kernel_down_is_a_reason(gpu: FakeGpu, bits: int, reasons: tuple[str, ...]) -> None:
    gpu.reasons = bits
    assert Monitor(UUID).read().throttle_reasons == reasons


@pytest.mark.parametrize("unsupported", ["clock_mhz", "temperature_c", "energy_mj"])
def test_what_the_gpu_does_not_tell_is_none_and_the_rest_is_there(gpu: FakeGpu, unsupported: str) -> None:
    known = Monitor(UUID).read()
    setattr(gpu, unsupported, None)
    read = Monitor(UUID).read()
    assert getattr(read, unsupported) is None
    assert read.power_w == known.power_w and read.throttled_ns == known.throttled_ns


def test_a_gpu_that_tells_nothing_is_no_error(gpu: FakeGpu) -> None:
    for name in vars(gpu):
        setattr(gpu, name, None)
    assert Monitor(UUID).read() == Reading(None, None, None, (), None, {})
    assert Monitor(UUID).other_processes([1]) == ()


# Throttling between two readings


@pytest.mark.parametrize(
    ("before", "after", "reasons"),
    [
        pytest.param(reading(), reading(), (), id="clean"),
        pytest.param(reading("hw_slowdown"), reading(), ("hw_slowdown",), id="seen before"),
        pytest.param(reading(), reading("hw_slowdown"), ("hw_slowdown",), id="seen after"),
        pytest.param(reading(sw_power_cap=5), reading(sw_power_cap=5), (), id="counted long ago"),
        pytest.param(reading(sw_power_cap=5), reading(sw_power_cap=6), ("sw_power_cap",), id="counted only"),
        pytest.param(reading(), reading(sw_power_cap=6), (), id="nothing to compare the counter with"),
        pytest.param(
            reading("hw_slowdown", sw_power_cap=5),
            reading("sw_power_cap", sw_power_cap=9),
            ("sw_power_cap", "hw_slowdown"),
            id="several, each once",
        ),
    ],
)
def test_throttled_during(before: Reading, after: Reading, reasons: tuple[str, ...]) -> None:
    assert throttled_during(before, after) == reasons


# Sampling again


class Sampler:
    """Takes samples: numbers how often, and throttles the GPU the first `throttled` times, for its counter alone."""

    def __init__(self, gpu: FakeGpu, throttled: int) -> None:
        self.gpu, self.throttled, self.taken = gpu, throttled, 0
        self.pauses: list[float] = []

    def __call__(self) -> int:
        self.taken += 1
        if self.taken <= self.throttled:
            assert self.gpu.counters is not None
            self.gpu.counters[COUNTS_POWER_CAP] += 1000
        return self.taken


@pytest.mark.parametrize(
    ("throttled", "taken", "pauses", "reasons"),
    [
        pytest.param(0, 1, [], (), id="clean"),
        pytest.param(1, 2, [0.5], (), id="throttled, then clean"),
        pytest.param(2, 3, [0.5, 0.5], (), id="clean at the last attempt"),
        pytest.param(9, 3, [0.5, 0.5], ("sw_power_cap",), id="always throttled"),
    ],
)
def test_throttled_samples_are_taken_again_after_a_pause(
    gpu: FakeGpu, throttled: int, taken: int, pauses: list[float], reasons: tuple[str, ...]
) -> None:
    sampler = Sampler(gpu, throttled)
    result = sample_unthrottled(sampler, Monitor(UUID), 0.5, 3, sampler.pauses.append)
    assert result == (taken, reasons)
    assert sampler.taken == taken
    assert sampler.pauses == pauses


def test_less_than_one_attempt_is_an_error(gpu: FakeGpu) -> None:
    with pytest.raises(ValueError, match="attempts is 0"):
        sample_unthrottled(lambda: 1, Monitor(UUID), 0.5, 0)


# Other processes


@pytest.mark.parametrize(
    ("listed", "own", "others"),
    [
        pytest.param([], [10], (), id="nothing told"),
        pytest.param([10], [10], (), id="only we"),
        pytest.param([10, 99, 42], [10, 11], (42, 99), id="we and others"),
        pytest.param([7], [], (7,), id="we hold no context"),
        pytest.param([5000], [10], (), id="we, by the pid of another namespace"),
        pytest.param([5001, 5000], [10], (5000, 5001), id="we and another, by pids of another namespace"),
    ],
)
def test_other_processes(gpu: FakeGpu, listed: list[int], own: list[int], others: tuple[int, ...]) -> None:
    gpu.pids = listed
    assert Monitor(UUID).other_processes(own) == others


# A real GPU


@pytest.mark.gpu
def test_a_real_gpu_is_read_in_little_time() -> None:
    from kernelsweep.platforms.detect import visible_gpu

    gpu = visible_gpu()
    assert gpu is not None
    monitor = Monitor(gpu.uuid)
    readings = [monitor.read() for _ in range(20)]
    started = time.perf_counter()
    readings += [monitor.read() for _ in range(100)]
    seconds = (time.perf_counter() - started) / 100
    print(f"{1e6 * seconds:.0f} us a reading; {readings[-1]}; others: {monitor.other_processes([os.getpid()])}")
    assert all(one.clock_mhz and one.temperature_c and one.power_w for one in readings)
    assert seconds < 0.01, "a point takes some 10 ms; its two readings must not take as long"
