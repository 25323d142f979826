"""What a GPU does besides running our kernels: clock, temperature, power, throttling, others at work. Through NVML.

On an H200 (driver 580) each question takes 1 to 3 us, the one for processes 20; but the one for energy 2 to 19 ms, and
the counters of time spent throttled 1 ms. So those counters aren't asked, and energy only where it is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import pynvml

from kernelsweep.platforms.platform import Conditions

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


class Monitor:
    """Watches one GPU.

    uuid  as NVML and nvidia-smi -L write it, GPU-... or MIG-...

    Raises pynvml.NVMLError where NVML can't be used or knows no such GPU. Once open, what can't be read is None or
    empty, and never an error: a measurement isn't lost for want of a remark on it.
    """

    def __init__(self, uuid: str) -> None:
        pynvml.nvmlInit()  # NVML counts how often; it ends with the process.
        self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)

    def conditions(self) -> Conditions:
        """What the GPU is like now."""
        power_mw = self._ask(pynvml.nvmlDeviceGetPowerUsage)
        reasons = self._ask(pynvml.nvmlDeviceGetCurrentClocksEventReasons) or 0
        return Conditions(
            clock_mhz=self._ask(pynvml.nvmlDeviceGetClockInfo, pynvml.NVML_CLOCK_SM),
            temperature_c=self._ask(pynvml.nvmlDeviceGetTemperatureV, pynvml.NVML_TEMPERATURE_GPU),
            power_w=None if power_mw is None else power_mw / 1000,
            throttle_reasons=tuple(name for bit, name in REASONS.items() if reasons & bit),
        )

    def energy_mj(self) -> int | None:
        """Millijoules used since the driver was loaded; an H200's driver renews the number every 100 ms."""
        energy_mj: int | None = self._ask(pynvml.nvmlDeviceGetTotalEnergyConsumption)
        return energy_mj

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
