"""Choose where points run: find the GPUs, and say what is missing where none can be used."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pynvml

from kernelsweep.configuration import EMULATOR
from kernelsweep.errors import UserError
from kernelsweep.schema import nearest

INSTALL_PYCUDA = "uv run --extra gpu snakemake --cores 1 all"
USE_EMULATOR = "uv run snakemake --cores 1 all --config platform=emulator"


@dataclass(frozen=True)
class Gpu:
    """A GPU as NVML knows it, found without starting CUDA."""

    name: str
    uuid: str
    arch: str
    driver: str

    @property
    def platform(self) -> str:
        """The model's name as a folder's: nvidia-h200."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")


def visible_gpus() -> list[Gpu]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves visible, in its order; none without a driver.

    Raises UserError where it names a slice of a GPU (MIG), or leaves only GPUs that are sliced.
    """
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    try:
        handles = {}
        for index in range(pynvml.nvmlDeviceGetCount()):
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            handles[pynvml.nvmlDeviceGetUUID(handle)] = handle
        visible = _visible(list(handles))
        whole = [uuid for uuid in visible if not _is_sliced(handles[uuid])]
        if visible and not whole:
            raise _sliced(visible[0], list(handles))
        return [_described(uuid, handles[uuid]) for uuid in whole]
    finally:
        pynvml.nvmlShutdown()


def _is_sliced(handle: Any) -> bool:
    try:
        mode, _ = pynvml.nvmlDeviceGetMigMode(handle)
    except pynvml.NVMLError:  # of a GPU that can't be sliced
        return False
    return bool(mode == pynvml.NVML_DEVICE_MIG_ENABLE)


def _sliced(name: str, uuids: Sequence[str]) -> UserError:
    return UserError(
        f"{name} is a slice of a GPU, or a GPU in slices (MIG): kernelsweep measures on whole GPUs only, since slices "
        "share their memory's bandwidth limits and clocks with their neighbours. Name in CUDA_VISIBLE_DEVICES a GPU that "
        f"isn't sliced (there are: {', '.join(uuids) or 'none'}), or type: {USE_EMULATOR}"
    )


def _described(uuid: str, handle: Any) -> Gpu:
    major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handle)
    return Gpu(
        name=pynvml.nvmlDeviceGetName(handle),
        uuid=uuid,
        arch=f"sm_{major}{minor}",
        driver=pynvml.nvmlSystemGetDriverVersion(),
    )


def _visible(uuids: Sequence[str]) -> list[str]:
    """Those of a machine's UUIDs that CUDA_VISIBLE_DEVICES names: by index, UUID, or the beginning of one.

    As for CUDA, the list ends at the first entry that names no GPU, or more than one.
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


def visible_gpu() -> Gpu | None:
    """The first GPU that CUDA_VISIBLE_DEVICES leaves visible, whose model is the platform, or None."""
    return next(iter(visible_gpus()), None)


def left_out() -> str | None:
    """A line that names the visible GPUs of another model than the first, which no point runs on; None without any."""
    gpus = visible_gpus()
    others = [f"{gpu.name} ({gpu.uuid})" for gpu in gpus if gpu.platform != gpus[0].platform]
    if not others:
        return None
    return (
        f"Points run on {gpus[0].name} only; not used: {', '.join(others)}. To use another model, name its GPUs in "
        "CUDA_VISIBLE_DEVICES."
    )


def recordings(root: Path) -> list[str]:
    """The names of the recordings in resources/recordings/, the newest first, by the time each was measured."""
    found = []
    for folder in (root / "resources/recordings").glob("*/"):
        environment = folder / "environment.json"
        if environment.is_file():
            measured = re.search(r'"measured": "([^"]*)"', environment.read_text())
            found.append((measured[1] if measured else "", folder.name))
    return [name for _, name in sorted(found, reverse=True)]


def choose_platforms(wanted: str, root: Path) -> tuple[list[str], Gpu | None]:
    """The platforms to run for config.yaml's `platform`, and the GPU among them.

    Raises UserError where a GPU is wanted or there but can't be used: what is missing, and what to type.
    """
    if wanted.startswith("recording/"):
        name = wanted.removeprefix("recording/")
        known = recordings(root)
        if name not in known:
            raise UserError(
                f"platform: there is no recording {name!r} in resources/recordings/{nearest(name, known) or ';'} "
                f"There: {', '.join(known) or 'none'}."
            )
        return [wanted], None
    if wanted == EMULATOR:
        return [EMULATOR], None
    gpu = visible_gpu()
    has_pycuda = importlib.util.find_spec("pycuda") is not None
    if gpu and not has_pycuda:
        raise UserError(
            f"{gpu.name} is there, but PyCUDA, through which it is driven, is not installed. "
            f"Type: {INSTALL_PYCUDA}   or, without the GPU: {USE_EMULATOR}"
        )
    if gpu:
        return [gpu.platform], gpu
    if has_pycuda and not _has_driver():
        raise UserError(
            "PyCUDA is installed, but NVIDIA's driver is not: libcuda.so.1 was not found. Install the driver "
            f"(nvidia-smi then lists the GPU), or type: {USE_EMULATOR}"
        )
    if wanted == "gpu":
        raise UserError(
            "platform is gpu, but NVIDIA's driver shows no GPU here (nvidia-smi lists those there are; "
            f"CUDA_VISIBLE_DEVICES may hide one). Without a GPU, type: {USE_EMULATOR}"
        )
    return [EMULATOR, *(f"recording/{name}" for name in recordings(root)[:1])], None


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True
