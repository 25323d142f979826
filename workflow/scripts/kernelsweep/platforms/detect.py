"""Choose where points run: find the GPU, and say what is missing where it can't be used."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from dataclasses import dataclass
from pathlib import Path

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


def visible_gpu() -> Gpu | None:
    """The first GPU that CUDA_VISIBLE_DEVICES leaves visible, or None."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    try:
        handles = [pynvml.nvmlDeviceGetHandleByIndex(i) for i in range(pynvml.nvmlDeviceGetCount())]
        wanted = os.environ.get("CUDA_VISIBLE_DEVICES")
        if wanted is not None:
            first = wanted.split(",")[0].strip()
            if first.isdecimal():
                handles = handles[int(first) : int(first) + 1]
            else:
                handles = [h for h in handles if first and pynvml.nvmlDeviceGetUUID(h).startswith(first)]
        if not handles:
            return None
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(handles[0])
        return Gpu(
            name=pynvml.nvmlDeviceGetName(handles[0]),
            uuid=pynvml.nvmlDeviceGetUUID(handles[0]),
            arch=f"sm_{major}{minor}",
            driver=pynvml.nvmlSystemGetDriverVersion(),
        )
    finally:
        pynvml.nvmlShutdown()


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
