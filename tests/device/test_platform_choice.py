"""Which platforms a run uses, and its message if the wanted one can't be used."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pynvml
import pytest

from kernelsweep.device.choose import Model, choose_platforms
from kernelsweep.device.gpus import Gpu, check_state, gpus_of, visible_gpus
from kernelsweep.errors import UserError


@dataclass(frozen=True)
class FakeGpu:
    """NVML's description of a GPU."""

    name: str
    uuid: str
    capability: tuple[int, int]
    sliced: bool = False


H200 = FakeGpu("NVIDIA H200", "GPU-1111aaaa-0000-0000-0000-000000000000", (9, 0))
SECOND_H200 = FakeGpu("NVIDIA H200", "GPU-1111cccc-0000-0000-0000-000000000000", (9, 0))
STATE = {
    "driver": "580.95.05",
    "power_limit_w": 700.0,
    "clock_limit_mhz": 1980,
    "memory_clock_limit_mhz": 1980,
    "ecc": None,
}
# `gpu_models` of config.yaml, for GPUs that are somewhere in a cluster.
CLUSTER = {"nvidia-l4": {"arch": "sm_89"}, "nvidia-h200": {"arch": "sm_90a"}}
RTX = FakeGpu("NVIDIA GeForce RTX 3080", "GPU-2222bbbb-0000-0000-0000-000000000000", (8, 6))


@dataclass
class Machine:
    """The equipment of a pretended machine. The tests set it, and the patched functions read it."""

    gpus: Sequence[FakeGpu] = ()
    driver: bool = False
    pycuda: bool = False
    error: int = 0


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without anything, in place of the real one."""
    has = Machine()
    find_spec = importlib.util.find_spec

    def init() -> None:
        if has.error or not has.driver:
            raise pynvml.NVMLError(has.error or pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    def unknown() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    def spec(name: str, package: str | None = None) -> ModuleSpec | None:
        return (ModuleSpec(name, None) if has.pycuda else None) if name == "pycuda" else find_spec(name, package)

    for function, answer in {
        "nvmlInit": init,
        "nvmlDeviceGetCount": lambda: len(has.gpus),
        "nvmlDeviceGetHandleByIndex": lambda index: has.gpus[index],
        "nvmlDeviceGetName": lambda gpu: gpu.name,
        "nvmlDeviceGetUUID": lambda gpu: gpu.uuid,
        "nvmlDeviceGetCudaComputeCapability": lambda gpu: gpu.capability,
        "nvmlDeviceGetMigMode": lambda gpu: (int(gpu.sliced), int(gpu.sliced)),
        "nvmlSystemGetDriverVersion": lambda: "580.95.05",
        "nvmlDeviceGetEnforcedPowerLimit": lambda gpu: 700_000,
        "nvmlDeviceGetApplicationsClock": lambda gpu, clock: 1980,
        "nvmlDeviceGetEccMode": lambda gpu: unknown(),
    }.items():
        monkeypatch.setattr(pynvml, function, answer)
    monkeypatch.setattr(importlib.util, "find_spec", spec)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return has


def record(root: Path, name: str, measured: str, *studies: str) -> None:
    """A recording of that name and of these studies, measured then."""
    folder = root / "resources/recordings" / name
    folder.mkdir(parents=True)
    environment = {"measured": measured, "configuration": {"studies": {study: {} for study in studies}}}
    (folder / "environment.json").write_text(json.dumps(environment, indent=1))


def refused(wanted: str, root: Path) -> str:
    """The message with which a platform is refused."""
    with pytest.raises(UserError) as error:
        choose_platforms(wanted, root, CLUSTER)
    return str(error.value)


@pytest.mark.parametrize("wanted", ["auto", "gpu"])
def test_a_gpu_is_used_where_all_is_there(machine: Machine, tmp_path: Path, wanted: str) -> None:
    machine.gpus, machine.driver, machine.pycuda = [H200, RTX], True, True
    assert choose_platforms(wanted, tmp_path, {}) == (["nvidia-h200"], {"nvidia-h200": Model("sm_90", STATE, 1)})


@pytest.mark.parametrize(
    ("wanted", "there", "sentence"),
    [
        # Falling back to the emulator here would hide from the user that their GPU was not used.
        ("auto", {"gpus": [H200], "driver": True}, "NVIDIA H200 is there, but PyCUDA, which is needed to use it"),
        ("auto", {"pycuda": True}, "PyCUDA is installed, but NVIDIA's driver shows no GPU here"),
        ("gpu", {"driver": True}, "platform is gpu, but NVIDIA's driver shows no GPU here"),
        ("gpu", {}, "platform is gpu, but NVIDIA's driver shows no GPU here"),
        ("auto", {"error": pynvml.NVML_ERROR_GPU_IS_LOST}, "The GPU or its driver failed: GPU is lost. Every finished"),
        ("auto", {"error": pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH}, "The GPU or its driver failed: RM has detected"),
    ],
)
def test_a_gpu_that_cannot_be_used_is_a_sentence_and_never_the_emulator_in_silence(
    machine: Machine, tmp_path: Path, wanted: str, there: dict[str, Any], sentence: str
) -> None:
    for name, value in there.items():
        setattr(machine, name, value)
    message = refused(wanted, tmp_path)
    assert message.startswith(sentence) and "--config platform=emulator" in message


def test_without_a_gpu_auto_emulates_and_draws_the_fullest_recording(machine: Machine, tmp_path: Path) -> None:
    # The newest among equals, by when it was measured: a clone sets the files' dates to its own.
    record(tmp_path, "a-newest-of-two", "2026-10-01T12:00:00Z", "staged", "unrolling")
    record(tmp_path, "b-oldest-of-two", "2024-01-31T12:00:00Z", "staged", "unrolling")
    record(tmp_path, "c-newest", "2026-10-02T23:00:00Z", "staged")
    (tmp_path / "resources/recordings/d-not-a-recording").mkdir()
    assert choose_platforms("auto", tmp_path, CLUSTER) == (["emulator", "recording/a-newest-of-two"], {})


def test_an_unknown_recording_is_refused_with_those_there_are(machine: Machine, tmp_path: Path) -> None:
    assert refused("recording/h100", tmp_path).endswith("no recording 'h100'. In resources/recordings/: none.")
    record(tmp_path, "nvidia-h200", "2026-10-01T12:00:00Z")
    assert refused("recording/nvidia-h20", tmp_path).endswith(
        "; did you mean 'nvidia-h200'? In resources/recordings/: nvidia-h200."
    )


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        ("2,0", [SECOND_H200, H200]),
        ("GPU-1111c,GPU-2", [SECOND_H200, RTX]),
        ("0,7,1", [H200]),  # As for CUDA, nothing counts behind an entry that names no GPU.
        ("1,GPU-1111,0", [RTX]),  # Two begin like this.
    ],
)
def test_several_gpus_are_visible_in_the_order_asked_for(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, visible: str, expected: list[FakeGpu]
) -> None:
    machine.gpus, machine.driver = [H200, RTX, SECOND_H200], True
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu.uuid for gpu in visible_gpus()] == [gpu.uuid for gpu in expected]


def test_a_gpu_in_slices_is_left_out_or_refused_by_index_too(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Pins: CUDA_VISIBLE_DEVICES=0, for which CUDA itself takes the first slice.
    machine.gpus, machine.driver, machine.pycuda = [replace(H200, sliced=True), SECOND_H200], True, True
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    assert f"{H200.uuid} is a slice of a GPU, or a GPU in slices" in refused("auto", tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert [gpu.uuid for gpu in visible_gpus()] == [SECOND_H200.uuid]


@pytest.mark.parametrize("gpus", [[], [RTX], [H200]])
def test_a_declared_model_is_measured_whatever_this_machine_has(
    machine: Machine, tmp_path: Path, gpus: list[FakeGpu]
) -> None:
    # A login node has no GPU and maybe no driver; each job's node has them, and must come to the same.
    machine.gpus, machine.driver = gpus, bool(gpus)
    assert choose_platforms("nvidia-l4", tmp_path, CLUSTER) == (["nvidia-l4"], {"nvidia-l4": Model("sm_89")})
    several = ["nvidia-h200", "emulator", "nvidia-l4"]
    models = {"nvidia-h200": Model("sm_90a"), "nvidia-l4": Model("sm_89")}
    assert choose_platforms(several, tmp_path, CLUSTER) == (several, models)


def test_a_model_that_is_not_declared_is_one_of_this_machines(machine: Machine, tmp_path: Path) -> None:
    machine.gpus, machine.driver, machine.pycuda = [H200, RTX], True, True
    other = "nvidia-geforce-rtx-3080"
    chosen, models = choose_platforms(other, tmp_path, CLUSTER)
    assert (chosen, models[other].arch, models[other].count) == ([other], "sm_86", 1)
    assert models[other].state["driver"] == "580.95.05"
    machine.gpus = []
    message = refused("nvidia-l40", tmp_path)
    assert message.startswith("platform is 'nvidia-l40', which is no GPU of this machine; did you mean 'nvidia-l4'?")
    assert "gpu_models: {nvidia-l40: {arch: sm_90}}" in message


def test_a_job_on_another_model_or_driver_says_so(machine: Machine) -> None:
    machine.gpus, machine.driver = [RTX, H200, SECOND_H200], True
    assert [gpu.uuid for gpu in gpus_of("nvidia-h200")] == [H200.uuid, SECOND_H200.uuid]
    with pytest.raises(
        UserError, match=r"No GPU of platform nvidia-l4 .*visible: nvidia-geforce-rtx-3080, nvidia-h200"
    ):
        gpus_of("nvidia-l4")
    gpu = Gpu("NVIDIA H200", H200.uuid, "sm_90", STATE)
    check_state(gpu, {**STATE, "l2_bytes": 1})
    # Pins: points of two drivers in one data set, after an unnoticed change of the cluster's driver.
    with pytest.raises(UserError, match=r"has driver 580\.95\.05, but results/nvidia-h200/device\.json .* with 570"):
        check_state(gpu, {**STATE, "driver": "570"})
    with pytest.raises(UserError, match=r"has power_limit_w 700\.0, but .* with 500"):
        check_state(gpu, {**STATE, "power_limit_w": 500.0})
