"""Choose where points run: find the GPUs, and say what is missing where none can be used."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform as host
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pynvml

from kernelsweep.errors import UserError
from kernelsweep.platforms.names import EMULATOR, is_recording, recording_name, recording_platform
from kernelsweep.sweep.schema import nearest

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


@dataclass(frozen=True)
class Model:
    """A GPU's model that is measured, here or on other machines, such as a cluster's: what to compile for it.

    driver  this machine's, which is described and measured again where it changes; None where jobs run elsewhere
    """

    arch: str
    driver: str | None = None


def visible_gpus() -> list[Gpu]:
    """The GPUs that CUDA_VISIBLE_DEVICES leaves visible, in its order; none without a driver.

    Raises UserError where it names a slice of a GPU (MIG), or leaves only GPUs that are sliced.

    NVML stays open until this process ends: where no persistence daemon runs, the driver takes a GPU that nobody has
    open down, and sets it up again, a tenth of a second each, for the next process.
    """
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return []
    handles = {}
    for index in range(pynvml.nvmlDeviceGetCount()):
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        handles[pynvml.nvmlDeviceGetUUID(handle)] = handle
    visible = _visible(list(handles))
    whole = [uuid for uuid in visible if not _is_sliced(handles[uuid])]
    if visible and not whole:
        raise _sliced(visible[0], list(handles))
    return [_described(uuid, handles[uuid]) for uuid in whole]


def _is_sliced(handle: Any) -> bool:
    try:
        mode, _ = pynvml.nvmlDeviceGetMigMode(handle)
    except pynvml.NVMLError:  # of a GPU that can't be sliced
        return False
    return bool(mode == pynvml.NVML_DEVICE_MIG_ENABLE)


def _sliced(name: str, uuids: Sequence[str]) -> UserError:
    return UserError(
        f"{name} is a slice of a GPU, or a GPU in slices (MIG): kernelsweep measures on whole GPUs only, since slices "
        "share their memory's bandwidth limits and clocks with their neighbours. Name in CUDA_VISIBLE_DEVICES a GPU "
        f"that isn't sliced (there are: {', '.join(uuids) or 'none'}), or type: {USE_EMULATOR}"
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


def left_out(platforms: Sequence[str]) -> str | None:
    """A line that names the visible GPUs of models that are none of `platforms`; None where there are none of both."""
    gpus = visible_gpus()
    used = list(dict.fromkeys(gpu.name for gpu in gpus if gpu.platform in platforms))
    others = [f"{gpu.name} ({gpu.uuid})" for gpu in gpus if gpu.platform not in platforms]
    if not used or not others:
        return None
    return (
        f"Points run on {' and '.join(used)} only; not used: {', '.join(others)}. To use another model, name its GPUs "
        "in CUDA_VISIBLE_DEVICES."
    )


def gpus_of(platform: str) -> list[Gpu]:
    """The visible GPUs of a platform's model. Raises UserError where there are none, with those that are there."""
    found = visible_gpus()
    gpus = [gpu for gpu in found if gpu.platform == platform]
    if not gpus:
        there = ", ".join(sorted({gpu.platform for gpu in found})) or "none"
        raise UserError(
            f"No GPU of platform {platform} is visible to this job on {host.node()} (visible: {there}). nvidia-smi "
            "lists those there are, and CUDA_VISIBLE_DEVICES may hide some. Which of a cluster's nodes a job asks for "
            "is said under gpu_models in config.yaml."
        )
    return gpus


def check_pycuda(gpu: Gpu) -> None:
    """Raise UserError where PyCUDA is not installed, with what to type."""
    if not _has_pycuda():
        raise UserError(
            f"{gpu.name} is there, but PyCUDA, through which it is driven, is not installed. "
            f"Type: {INSTALL_PYCUDA}   or, without the GPU: {USE_EMULATOR}"
        )


def check_driver(gpu: Gpu, device: Mapping[str, Any]) -> None:
    """Raise UserError where a GPU's driver isn't that of its platform's description, against which points are read.

    Where GPUs are another machine's, nobody has noticed yet that the driver is new, or not the same on every node.
    """
    if gpu.driver != device["driver"]:
        raise UserError(
            f"{host.node()} has driver {gpu.driver}, but results/{gpu.platform}/device.json was made with driver "
            f"{device['driver']}, and times are of one driver. If it was renewed, delete that file, and type the same "
            "command again; if nodes differ, have jobs ask for those that are alike."
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


def choose_platforms(
    wanted: str | Sequence[str],
    root: Path,
    declared: Mapping[str, Mapping[str, Any]],
    jobs_bring_pycuda: bool = False,
) -> tuple[list[str], dict[str, Model]]:
    """The platforms to run for config.yaml's `platform`, one or several, and the models of the GPUs among them.

    declared           config.yaml's `gpu_models`, whose GPUs are other machines'
    jobs_bring_pycuda  whether PyCUDA need not be installed here, since jobs run in an environment of their own

    Raises UserError where a GPU is wanted or there but can't be used: what is missing, and what to type.
    """
    chosen: dict[str, Model | None] = {}
    for name in [wanted] if isinstance(wanted, str) else wanted:
        chosen |= _chosen(name, root, declared, jobs_bring_pycuda)
    return list(chosen), {platform: model for platform, model in chosen.items() if model}


def _chosen(
    wanted: str, root: Path, declared: Mapping[str, Mapping[str, Any]], jobs_bring_pycuda: bool
) -> dict[str, Model | None]:
    """The platforms that one name stands for, with the models of those that are GPUs."""
    if is_recording(wanted):
        name = recording_name(wanted)
        known = recordings(root)
        if name not in known:
            raise UserError(
                f"platform: there is no recording {name!r} in resources/recordings/{nearest(name, known) or ';'} "
                f"There: {', '.join(known) or 'none'}."
            )
        return {wanted: None}
    if wanted == EMULATOR:
        return {EMULATOR: None}
    # The same on every machine: a cluster's jobs read the configuration too, each where it runs.
    if wanted in declared:
        return {wanted: Model(declared[wanted]["arch"])}
    gpus = visible_gpus()
    if wanted not in ("auto", "gpu"):
        gpus = [gpu for gpu in gpus if gpu.platform == wanted]
        if not gpus:
            raise _undeclared(wanted, declared)
    if gpus:
        if not jobs_bring_pycuda:
            check_pycuda(gpus[0])
        return {gpus[0].platform: Model(gpus[0].arch, gpus[0].driver)}
    if _has_pycuda() and not _has_driver():
        raise UserError(
            "PyCUDA is installed, but NVIDIA's driver is not: libcuda.so.1 was not found. Install the driver "
            "(nvidia-smi then lists the GPU; a container has the host's, if started with docker run --gpus all or "
            f"apptainer run --nv), or type: {USE_EMULATOR}"
        )
    if wanted == "gpu":
        raise UserError(
            "platform is gpu, but NVIDIA's driver shows no GPU here (nvidia-smi lists those there are; "
            f"CUDA_VISIBLE_DEVICES may hide one). Without a GPU, type: {USE_EMULATOR}"
        )
    return {EMULATOR: None, **{recording_platform(name): None for name in recordings(root)[:1]}}


def _undeclared(wanted: str, declared: Mapping[str, Mapping[str, Any]]) -> UserError:
    known = ["auto", "gpu", EMULATOR, *declared]
    return UserError(
        f"platform is {wanted!r}, which is no GPU of this machine{nearest(wanted, known) or ';'} Allowed: "
        f"{', '.join(known)}, or recording/<name>. For GPUs of other machines, such as a cluster's, say in config.yaml "
        f"what to compile for: gpu_models: {{{wanted}: {{arch: sm_90}}}}"
    )


def _has_pycuda() -> bool:
    return importlib.util.find_spec("pycuda") is not None


def _has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True
