"""What a GPU does besides running our kernels: clock, temperature, power, throttling, others at work. Through NVML."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pynvml

# Why the driver may hold the clock below what a kernel could have, by bit. Not among them: an idle GPU, and clocks that
# the user has set, which are the same for every point.
REASONS: Mapping[int, str] = {
    pynvml.nvmlClocksEventReasonSwPowerCap: "sw_power_cap",
    pynvml.nvmlClocksEventReasonHwSlowdown: "hw_slowdown",
    pynvml.nvmlClocksEventReasonSyncBoost: "sync_boost",
    pynvml.nvmlClocksEventReasonSwThermalSlowdown: "sw_thermal_slowdown",
    pynvml.nvmlClocksEventReasonHwThermalSlowdown: "hw_thermal_slowdown",
    pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown: "hw_power_brake",
    pynvml.nvmlClocksEventReasonDisplayClockSetting: "display_clock",
}

# Fields that count the nanoseconds spent in a reason. NVML_FI_DEV_CLOCKS_EVENT_REASON_* has some for the hardware's
# reasons, too, but under numbers that changed: 251 to 253 for driver 580, 269 to 271 in this package's newer header,
# and each set means something else to the other one. These three have been the same since they were introduced.
COUNTERS: Mapping[int, str] = {
    pynvml.NVML_FI_DEV_PERF_POLICY_POWER: "sw_power_cap",
    pynvml.NVML_FI_DEV_PERF_POLICY_THERMAL: "sw_thermal_slowdown",
    pynvml.NVML_FI_DEV_PERF_POLICY_SYNC_BOOST: "sync_boost",
}

Taken = TypeVar("Taken")


@dataclass(frozen=True)
class Reading:
    """A GPU at one moment; None for what it doesn't tell.

    clock_mhz         of the multiprocessors
    power_w           of the board; an average over about a second on some GPUs
    throttle_reasons  the texts of REASONS that hold now; empty as well where the GPU doesn't tell
    energy_mj         used since the driver was loaded, millijoules. Drivers renew it in steps of up to some 100 ms, so
                      that a difference over less time than that means little
    throttled_ns      nanoseconds spent in a reason since the driver was loaded, for those that the GPU counts
    """

    clock_mhz: int | None
    temperature_c: int | None
    power_w: float | None
    throttle_reasons: tuple[str, ...]
    energy_mj: int | None
    throttled_ns: Mapping[str, int] = field(default_factory=dict)


class Monitor:
    """Reads one GPU's state.

    uuid  as NVML and nvidia-smi -L write it, GPU-... or MIG-...

    Raises pynvml.NVMLError where NVML can't be used or knows no such GPU. Once open, what can't be read is None or
    empty, and never an error: a measurement isn't lost for want of a remark on it.
    """

    def __init__(self, uuid: str) -> None:
        pynvml.nvmlInit()  # NVML counts how often; it ends with the process.
        self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)

    @classmethod
    def at_pci_bus_id(cls, pci_bus_id: str) -> Monitor:
        """The monitor of the GPU at that place, as PyCUDA's Device.pci_bus_id() tells it: 0000:0A:00.0."""
        pynvml.nvmlInit()
        return cls(pynvml.nvmlDeviceGetUUID(pynvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id)))

    def read(self) -> Reading:
        """The state now."""
        power_mw = self._ask(pynvml.nvmlDeviceGetPowerUsage)
        reasons = self._ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons) or 0
        return Reading(
            clock_mhz=self._ask(pynvml.nvmlDeviceGetClockInfo, pynvml.NVML_CLOCK_SM),
            temperature_c=self._ask(pynvml.nvmlDeviceGetTemperatureV, pynvml.NVML_TEMPERATURE_GPU),
            power_w=None if power_mw is None else power_mw / 1000,
            throttle_reasons=tuple(name for bit, name in REASONS.items() if reasons & bit),
            energy_mj=self._ask(pynvml.nvmlDeviceGetTotalEnergyConsumption),
            throttled_ns={
                COUNTERS[value.fieldId]: int(value.value.ullVal)
                for value in self._ask(pynvml.nvmlDeviceGetFieldValues, list(COUNTERS)) or ()
                if value.nvmlReturn == pynvml.NVML_SUCCESS
            },
        )

    def other_processes(self, own_pids: Collection[int]) -> tuple[int, ...]:
        """The pids of compute processes on the GPU besides our own; empty where there are none, or none are told of.

        own_pids  of our processes that hold a context on this GPU now, as os.getpid() gave them

        In a container, NVML may hide the processes outside: then they are missed. Or it may give every process the pid
        that it has outside, so that ours can't be told from others: where none of own_pids is among the pids, but no
        more pids than own_pids, these are taken to be ours; where there are more, all of them are returned, ours
        included.
        """
        listed = {int(process.pid) for process in self._ask(pynvml.nvmlDeviceGetComputeRunningProcesses_v3) or ()}
        own = set(own_pids)
        if listed.isdisjoint(own) and len(listed) <= len(own):
            return ()
        return tuple(sorted(listed - own))

    def _ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What NVML answers about the GPU; None where it can't."""
        try:
            return function(self._handle, *arguments)
        except pynvml.NVMLError:
            return None


def throttled_during(before: Reading, after: Reading) -> tuple[str, ...]:
    """Why the GPU was throttled between two readings, in the order of REASONS; empty where it was not.

    A reason counts that holds at one of the readings, or whose counter has grown. Neither is enough: a look misses what
    began and ended between the two, and a driver may add to its counters only some 100 ms later.
    """
    seen = {*before.throttle_reasons, *after.throttle_reasons}
    counted = {
        name
        for name, throttled_ns in after.throttled_ns.items()
        if throttled_ns > before.throttled_ns.get(name, throttled_ns)
    }
    return tuple(name for name in REASONS.values() if name in seen | counted)


def sample_unthrottled(
    take: Callable[[], Taken],
    monitor: Monitor,
    pause_seconds: float,
    attempts: int,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Taken, tuple[str, ...]]:
    """What `take` returns, taken again after a pause while the GPU was throttled meanwhile, and why it still was.

    take      takes samples
    attempts  how often to take them at most, 1 or more

    The result is the last one taken; its reasons are those of throttled_during(), empty where it is clean. Raises
    ValueError for less than one attempt.
    """
    if attempts < 1:
        raise ValueError(f"attempts is {attempts}; samples are taken once at least")
    for pauses_left in reversed(range(attempts)):
        before = monitor.read()
        result = take()
        reasons = throttled_during(before, monitor.read())
        if not reasons or not pauses_left:
            break
        sleep(pause_seconds)
    return result, reasons
