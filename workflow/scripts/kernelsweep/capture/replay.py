"""Run captured launches again on this machine's GPU: are the results the captured bits, and how far can rounding go?

    python -m kernelsweep.capture.replay STUDY EXACT ROUNDED FOLDER

A launch is replayed EXACT times from what was captured. Then it is replayed ROUNDED times with each float among its
inputs a rounding up, down, or as it was: how far results move is how far another order of the same arithmetic may move
them, as in Monte Carlo arithmetic (D. S. Parker, "Monte Carlo arithmetic", UCLA CSD-970002, 1997). Printed, as JSON, is
for each launch by number `differ`, the number of exact replays in which any bit differs. FOLDER gets <launch>-<output>-

    result.npy   what the first replay has left
    spread.npy   of floats, how far each element was from the captured one at most, in both kinds of replays

It is a process of its own: a kernel that fails takes nothing with it.
"""

from __future__ import annotations

import atexit
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.base.running import environment
from kernelsweep.device.gpus import has_pycuda, visible_gpus
from kernelsweep.device.point.memory import KernelMemory
from kernelsweep.device.point.point_run import PointRun
from kernelsweep.errors import UserError
from kernelsweep.study.captured import CODE, FOLDER, read_capture
from kernelsweep.study.point import Point
from kernelsweep.study.problem.array_values import ArrayValue
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem import Elements
from kernelsweep.study.study import Study, read_study

_SECONDS = 300
# Floats that unsigned integers may be, each with how far apart, as a share of the largest, sums in two orders may be.
_NEAR = {"float16": 0.05, "float32": 1e-3, "float64": 1e-9}


@dataclass(frozen=True)
class Replays:
    """What replays have shown.

    differ   of each launch, by number, the exact replays in which any bit differed
    results  what the first one has left, by launch and output
    spread   how far each element was off at most, by launch and output; none for an output that never was
    """

    differ: dict[str, int]
    results: dict[tuple[str, str], Elements]
    spread: dict[tuple[str, str], Elements]


def replays(study: str, exact: int, rounded: int = 0) -> Replays:
    """Replay a study of the working folder. Raises UserError where there is no GPU, and where a replay fails."""
    if not visible_gpus() or not has_pycuda():
        why = "PyCUDA is not installed" if visible_gpus() else "there is no GPU"
        raise UserError(f"It was not replayed: {why}.")
    with tempfile.TemporaryDirectory(prefix="kernelsweep-") as folder:
        command = [sys.executable, "-m", __spec__.name, study, str(exact), str(rounded), folder]
        try:
            run = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment(), timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise UserError(f"A replay did not end within {_SECONDS} s.") from error
        if run.returncode:
            raise UserError(f"A replay fails: {_error_in(run.stderr)}.")
        kept: dict[str, dict[tuple[str, str], Elements]] = {"result": {}, "spread": {}}
        for file in Path(folder).iterdir():
            launch, name, what = file.stem.split("-")
            kept[what][launch, name] = np.load(file)
        return Replays(json.loads(run.stdout), kept["result"], kept["spread"])


def _error_in(printed: str) -> str:
    """The line with the exception, of what Python and PyCUDA print."""
    lines = [line for line in printed.splitlines() if re.match(r"[\w.]+(Error|Failed|Lost)\b", line)]
    return (lines or [*printed.strip().splitlines(), "nothing was printed"])[0].rstrip(".")


def _replay(study: Study, launch: int, platform: Any, times: tuple[int, int], folder: Path) -> int:
    """Replay one launch, and write what this shows; the exact replays that differ."""
    point, random = Point({"cache": "hot", "launch": launch}), np.random.default_rng(launch)
    instance, plan = study.problem.instance("captured", point, 0), study.kernels["captured"].plan(point)
    memory, differing = KernelMemory(platform, own_pages=False), 0
    spread: dict[str, Elements] = {}
    for number in range(sum(times)):
        is_exact = number < times[0]
        memory.prepare(plan, instance if is_exact else _rounded(instance, random), int(not is_exact))
        run = PointRun(platform, memory, point, plan)
        run.preparation()()
        run.check_run()
        results = memory.fetched_results()
        right = {
            name: np.ascontiguousarray(instance.expected[name].elements, one.dtype) for name, one in results.items()
        }
        differing += is_exact and any(one.tobytes() != right[name].tobytes() for name, one in results.items())
        for name, one in results.items():
            if number == 0:
                np.save(folder / f"{launch}-{name}-result.npy", one)
            if one.tobytes() != right[name].tobytes():
                apart = _apart(one, right[name])
                spread[name] = np.maximum(spread.get(name, np.zeros_like(apart)), apart)
    for name, apart in spread.items():
        np.save(folder / f"{launch}-{name}-spread.npy", apart)
    memory.free()
    return differing


def _rounded(instance: FileInstance, random: np.random.Generator) -> FileInstance:
    """The instance with each float of its arrays a rounding off, or not."""

    def moved(value: Any) -> Any:
        if not isinstance(value, ArrayValue) or value.contents is None or value.dtype.kind != "f":
            return value
        steps = random.integers(-1, 2, value.contents.size, np.int8)
        with np.errstate(all="ignore"):
            unit = value.dtype.type(np.finfo(value.dtype).eps)
            return replace(value, contents=(value.contents + value.contents * (steps * unit)).astype(value.dtype))

    inputs = copy.copy(instance.inputs)
    vars(inputs)["by_name"] = {name: moved(value) for name, value in instance.inputs.by_name.items()}
    return replace(instance, inputs=inputs)


def _apart(result: Elements, right: Elements) -> Elements:
    """How far each element is off, in the type of the results if they are floats, else as long doubles.

    Unsigned integers may be bits of a float whose type isn't known: of the one as which they are nearly the same.
    """
    names = [result.dtype.name, *(_NEAR if result.dtype.kind == "u" else ())]
    for name in (one for one in reversed(names) if not result.nbytes % np.dtype(one).itemsize):
        first, second = (one.view(name) for one in (result, right))
        with np.errstate(all="ignore"):
            apart = np.where(first == second, 0.0, abs(first.astype(np.float64) - second))
            scale = np.max(abs(second), initial=0.0, where=apart != 0)
        if name == result.dtype.name or float(apart.max()) <= _NEAR[name] * float(scale):
            break
    return apart.astype(name if np.dtype(name).kind == "f" else np.longdouble)


def main(name: str, exact: str, rounded: str, folder: str) -> None:
    """Print what a study's replays show."""
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    os.environ["CUDA_VISIBLE_DEVICES"] = visible_gpus()[0].uuid
    from kernelsweep.device.gpu import GpuPlatform  # which needs PyCUDA

    study = read_study(name, Path.cwd())
    code, platform = study.root / "kernels" / name / FOLDER / CODE, GpuPlatform()
    atexit.register(platform.close)
    platform.load(code, {"captured": {"symbol": read_capture(code.parent).record["kernel"], "unit": 0}})
    times = (int(exact), int(rounded))
    launches = study.settings.axes["launch"]
    print(json.dumps({str(one): _replay(study, one, platform, times, Path(folder)) for one in launches}))


if __name__ == "__main__":
    main(*sys.argv[1:])
