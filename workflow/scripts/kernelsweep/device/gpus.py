"""The GPUs of this machine, as NVML knows them: found without starting CUDA."""

from __future__ import annotations

import importlib.util
import os
import platform as host
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pynvml

from kernelsweep.errors import UserError, gpu_failed
from kernelsweep.home import COMMAND, GPU_COMMAND

INSTALL_PYCUDA = f"{GPU_COMMAND} --cores 1 all"
USE_EMULATOR = f"{COMMAND} --cores 1 all --config platform=emulator"


@dataclass(frozen=True)
class Gpu:
    """A GPU as NVML knows it, found without starting CUDA.

    state  what its times depend on besides its model, by name; None for what NVML can't tell:
             driver                 the driver's version
             power_limit_w          the board's
             clock_limit_mhz        the multiprocessors', as set for applications (nvidia-smi -ac)
             memory_clock_limit_mhz the memory's
             ecc                    whether the memory corrects errors
    """

    name: str
    uuid: str
    arch: str
    state: Mapping[str, Any]

    @property
    def platform(self) -> str:
        """The model's name as a folder's: nvidia-h200."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def visible_gpus() -> list[Gpu]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves visible, in its order; none without a driver.

    Raises UserError if it names a slice of a GPU (MIG), or leaves only sliced GPUs, and where the driver fails.

    NVML stays open until this process ends. Without a persistence daemon, the driver shuts down a GPU that no process
    has open, and starts it again for the next process, which takes a tenth of a second each.
    """
    handles = {}
    try:
        pynvml.nvmlInit()
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            handles[pynvml.nvmlDeviceGetUUID(handle)] = handle
        visible = _visible(list(handles))
        whole = [uuid for uuid in visible if not _is_sliced(handles[uuid])]
        if visible and not whole:
            raise _sliced(visible[0], list(handles))
        return [_described(uuid, handles[uuid]) for uuid in whole]
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return []
    except pynvml.NVMLError as error:
        raise gpu_failed(error) from error


def _is_sliced(handle: Any) -> bool:
    modes = asked(pynvml.nvmlDeviceGetMigMode, handle)
    return modes is not None and bool(modes[0] == pynvml.NVML_DEVICE_MIG_ENABLE)


def _sliced(name: str, uuids: Sequence[str]) -> UserError:
    return UserError(
        f"{name} is a slice of a GPU, or a GPU in slices (MIG): kernelsweep measures on whole GPUs only, since slices "
        "share their memory's bandwidth limits and clocks with their neighbours. Name in CUDA_VISIBLE_DEVICES a GPU "
        f"that isn't sliced (there are: {', '.join(uuids) or 'none'}), or type: {USE_EMULATOR}"
    )


def _described(uuid: str, handle: Any) -> Gpu:
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    limit_mw = asked(pynvml.nvmlDeviceGetEnforcedPowerLimit, handle)
    ecc = asked(pynvml.nvmlDeviceGetEccMode, handle)
    return Gpu(
        name=pynvml.nvmlDeviceGetName(handle),
        uuid=uuid,
        arch=f"sm_{major}{minor}",
        state={
            "driver": pynvml.nvmlSystemGetDriverVersion(),
            "power_limit_w": None if limit_mw is None else limit_mw / 1000,
            "clock_limit_mhz": asked(pynvml.nvmlDeviceGetApplicationsClock, handle, pynvml.NVML_CLOCK_SM),
            "memory_clock_limit_mhz": asked(pynvml.nvmlDeviceGetApplicationsClock, handle, pynvml.NVML_CLOCK_MEM),
            "ecc": None if ecc is None else bool(ecc[0]),
        },
    )


def asked(function: Callable[..., Any], *arguments: Any) -> Any:
    """NVML's answer, or None if it has none."""
    try:
        return function(*arguments)
    except pynvml.NVMLError:
        return None


def _visible(uuids: Sequence[str]) -> list[str]:
    """The UUIDs that CUDA_VISIBLE_DEVICES names by index, UUID or the beginning of a UUID.

    As in CUDA, the list ends at the first entry that names no GPU or several.
    """
    wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
    if wanted is None:
        return list(uuids)
    visible: list[str] = []
    for entry in (entry.strip() for entry in wanted.split(",")):
        if entry.startswith("MIG-"):
            raise _sliced(entry, uuids)
        if entry.isdecimal():
            found = list(uuids[int(entry) : int(entry) + 1])
        else:
            found = [uuid for uuid in uuids if entry.startswith("GPU-") and uuid.startswith(entry)]
        if len(found) != 1:
            break
        visible += [uuid for uuid in found if uuid not in visible]
    return visible


def gpus_of(platform: str) -> list[Gpu]:
    """The visible GPUs of a platform's model. Raises UserError if there are none, naming those that are visible."""
    found = visible_gpus()
    gpus = [gpu for gpu in found if gpu.platform == platform]
    if not gpus:
        there = ", ".join(sorted({gpu.platform for gpu in found})) or "none"
        raise UserError(
            f"No GPU of platform {platform} is visible to this job on {host.node()} (visible: {there}). nvidia-smi "
            "lists all GPUs; CUDA_VISIBLE_DEVICES may hide some. In config.yaml, gpu_models says which of a cluster's "
            "nodes a job asks for."
        )
    return gpus


def check_state(gpu: Gpu, device: Mapping[str, Any]) -> None:
    """Raise UserError if a GPU's state differs from the one in its platform's description.

    Jobs on other machines check this: their driver may be new, or nodes and GPUs of one model may differ.
    """
    for name, value in gpu.state.items():
        if value != device.get(name):
            raise UserError(
                f"{gpu.uuid} in {host.node()} has {name} {value}, but results/{gpu.platform}/device.json was made with "
                f"{device.get(name)}, and times of the two can't be compared. If it was changed for good, delete that "
                "file and type the same command again. If nodes or GPUs differ, use those that agree."
            )


def has_pycuda() -> bool:
    """Whether PyCUDA is installed."""
    return importlib.util.find_spec("pycuda") is not None
