"""Choose the platforms of a run, by config.yaml's `platform`, and say what is missing if none can be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernelsweep.base.json_files import read_json
from kernelsweep.device.gpus import INSTALL_PYCUDA, USE_EMULATOR, has_pycuda, visible_gpus
from kernelsweep.device.kinds import GPU
from kernelsweep.device.names import is_recording, recording_name, recording_platform
from kernelsweep.errors import UserError, check_known, nearest
from kernelsweep.study.kernels.units import EMULATOR


@dataclass(frozen=True)
class Model:
    """A GPU model to measure, on this machine or on others such as a cluster's.

    arch    the architecture to compile for
    state   of this machine's first GPU of the model, as Gpu has it: if it changes, the device is described and measured
            again; None if jobs run elsewhere
    count   the number of this machine's visible GPUs of the model; 0 if jobs run elsewhere
    """

    arch: str
    state: Mapping[str, Any] | None = None
    count: int = 0


def check_names(names: Iterable[str], where: str) -> None:
    """Raise UserError if a name in the file `shown` is neither the emulator's nor can be that of a GPU's model."""
    for name in names:
        guess = nearest(name, [EMULATOR])
        if name != EMULATOR and (guess or not re.search(r"[-0-9]", name)):
            raise UserError(f"{where}: platforms names {name!r}{guess or '. Allowed: emulator, nvidia-h200, ...'}")


# A plan asks for each study.
@cache
def recorded_studies(root: Path, name: str) -> frozenset[str] | None:
    """The studies of a recording; None where its environment doesn't say."""
    file = root / "resources/recordings" / name / "environment.json"
    environment = read_json(file) if file.is_file() else {}
    configuration = environment.get("configuration")
    studies = configuration.get("studies") if isinstance(configuration, dict) else None
    return frozenset(studies) if isinstance(studies, dict) else None


def recordings(root: Path) -> list[str]:
    """The names of the recordings in resources/recordings/: first that of the most studies, the newest among equals."""
    found = []
    for file in filter(Path.is_file, (root / "resources/recordings").glob("*/environment.json")):
        name, measured = file.parent.name, str(read_json(file).get("measured", ""))
        found.append((len(recorded_studies(root, name) or ()), measured, name))
    return [name for _, _, name in sorted(found, reverse=True)]


def choose_platforms(
    named: str | Sequence[str],
    root: Path,
    declared: Mapping[str, Mapping[str, Any]],
    jobs_bring_pycuda: bool = False,
) -> tuple[list[str], dict[str, Model]]:
    """The platforms for config.yaml's `platform`, one or several, and the models of the GPUs among them.

    declared           config.yaml's `gpu_models`, whose GPUs are in other machines
    jobs_bring_pycuda  whether jobs run in their own environment, so that PyCUDA need not be installed here

    Raises UserError if a GPU is wanted or present but can't be used, with what is missing and what to type.
    """
    chosen: dict[str, Model | None] = {}
    for name in [named] if isinstance(named, str) else named:
        chosen |= _chosen(name, root, declared, jobs_bring_pycuda)
    return list(chosen), {platform: model for platform, model in chosen.items() if model}


def _chosen(
    named: str, root: Path, declared: Mapping[str, Mapping[str, Any]], jobs_bring_pycuda: bool
) -> dict[str, Model | None]:
    """The platforms for one name, each with its model if it is a GPU."""
    if is_recording(named):
        check_known(
            recording_name(named), recordings(root), "platform: there is no recording", "In resources/recordings/"
        )
        return {named: None}
    if named == EMULATOR:
        return {EMULATOR: None}
    # Without looking for GPUs: a cluster's jobs read the configuration too, and must get the same answer.
    if named in declared:
        return {named: Model(declared[named]["arch"])}
    gpus = visible_gpus()
    if named not in ("auto", GPU):
        gpus = [gpu for gpu in gpus if gpu.platform == named]
        if not gpus:
            raise _undeclared(named, declared)
    if gpus:
        if not (jobs_bring_pycuda or has_pycuda()):
            raise UserError(
                f"{gpus[0].name} is there, but PyCUDA, which is needed to use it, is not installed. "
                f"Type: {INSTALL_PYCUDA}   or, without the GPU: {USE_EMULATOR}"
            )
        platform = gpus[0].platform
        count = sum(gpu.platform == platform for gpu in gpus)
        return {platform: Model(gpus[0].arch, gpus[0].state, count)}
    if named == GPU or has_pycuda():
        why = "platform is gpu" if named == GPU else "PyCUDA is installed"
        raise UserError(
            f"{why}, but NVIDIA's driver shows no GPU here (nvidia-smi lists those there are; CUDA_VISIBLE_DEVICES may "
            "hide one; a container has the host's, if started with docker run --gpus all or apptainer run --nv). "
            f"Without a GPU, type: {USE_EMULATOR}"
        )
    return {EMULATOR: None, **{recording_platform(name): None for name in recordings(root)[:1]}}


def _undeclared(named: str, declared: Mapping[str, Mapping[str, Any]]) -> UserError:
    known = ["auto", GPU, EMULATOR, *declared]
    return UserError(
        f"platform is {named!r}, which is no GPU of this machine{nearest(named, known) or '.'} Allowed: "
        f"{', '.join(known)}, or recording/<name>. For GPUs of other machines, such as a cluster's, say in config.yaml "
        f"what to compile for: gpu_models: {{{named}: {{arch: sm_90}}}}"
    )
