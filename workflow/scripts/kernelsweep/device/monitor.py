"""A GPU's clock, temperature, power, throttling and other processes, from NVML.

On an H200 (driver 580) a query takes 1 to 3 us, and that for processes 40 to 200 us, as there are contexts. But the
counters of throttled time take 1 ms, so these are not read.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import pynvml

from kernelsweep.base.running import PROCESS_NAME, own_processes, process_name
from kernelsweep.device.gpus import asked
from kernelsweep.device.platform import Conditions

# NVML's bits for the reasons to lower the clock. Left out are an idle GPU, and clocks that the user has set, which slow
# all of a point's samples alike.
REASONS: Mapping[int, str] = {
    pynvml.nvmlClocksEventReasonSwPowerCap: "sw_power_cap",
    pynvml.nvmlClocksEventReasonHwSlowdown: "hw_slowdown",
    pynvml.nvmlClocksEventReasonSyncBoost: "sync_boost",
    pynvml.nvmlClocksEventReasonSwThermalSlowdown: "sw_thermal_slowdown",
    pynvml.nvmlClocksEventReasonHwThermalSlowdown: "hw_thermal_slowdown",
    pynvml.nvmlClocksEventReasonHwPowerBrakeSlowdown: "hw_power_brake",
    pynvml.nvmlClocksEventReasonDisplayClockSetting: "display_clock",
}

# Points of less than a millisecond would wait for the list of processes each time.
_SECONDS_BETWEEN_LISTS = 0.02


class Monitor:
    """Reads the state of one GPU.

    uuid  as NVML and nvidia-smi -L write it, GPU-... or MIG-...

    Raises pynvml.NVMLError if NVML can't be used or doesn't know the GPU. Later, a value that can't be read is None or
    empty: no measurement fails because of it.
    """

    def __init__(self, uuid: str) -> None:
        pynvml.nvmlInit()  # NVML counts these calls. It closes with the process.
        self._handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
        self._listed: tuple[int, ...] = ()
        self._others: tuple[int, ...] = ()
        self._asked = 0.0

    def conditions(self) -> Conditions:
        """The GPU's state now."""
        power_mw = asked(pynvml.nvmlDeviceGetPowerUsage, self._handle)
        reasons = asked(pynvml.nvmlDeviceGetCurrentClocksEventReasons, self._handle) or 0
        return Conditions(
            clock_mhz=asked(pynvml.nvmlDeviceGetClockInfo, self._handle, pynvml.NVML_CLOCK_SM),
            temperature_c=asked(pynvml.nvmlDeviceGetTemperatureV, self._handle, pynvml.NVML_TEMPERATURE_GPU),
            power_w=None if power_mw is None else power_mw / 1000,
            throttle_reasons=tuple(name for bit, name in REASONS.items() if reasons & bit),
            clocks_are_set=bool(reasons & pynvml.nvmlClocksEventReasonApplicationsClocksSetting),
        )

    def other_processes(self) -> tuple[int, ...]:
        """The ids of compute processes on the GPU that are not kernelsweep's, a moment ago; empty if NVML lists none.

        Ours are known by their name. Only one of them measures at a time, and the others' contexts rest.

        In a container, NVML may hide the processes outside, which are then missed. Or it may list all processes by the
        ids that they have outside, and ours can't be recognised. If no process of ours is listed, and no more processes
        than ours, all are taken to be ours. If more are listed, all are returned, including ours.
        """
        if time.monotonic() < self._asked + _SECONDS_BETWEEN_LISTS:
            return self._others
        self._asked = time.monotonic()
        running = asked(pynvml.nvmlDeviceGetComputeRunningProcesses_v3, self._handle) or ()
        listed = tuple(sorted({int(process.pid) for process in running}))
        if listed != self._listed:  # To look up names takes up to a millisecond, which is much beside a short point.
            self._listed, self._others = listed, _other_than_ours(listed)
        return self._others


def _other_than_ours(listed: tuple[int, ...]) -> tuple[int, ...]:
    """The processes among those that NVML lists that are not kernelsweep's, as Monitor.other_processes() has them."""
    names = {number: process_name(number) for number in listed}
    if PROCESS_NAME in names.values():
        ours = (PROCESS_NAME, None)  # One without a name has ended since.
        return tuple(number for number, name in names.items() if name not in ours)
    return listed if len(listed) > len(own_processes()) else ()
