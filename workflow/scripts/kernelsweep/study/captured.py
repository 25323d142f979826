"""Launches captured from a running program (capture/) as a study's problem and as its original kernel.

kernels/<study>/problem.py            inputs, outputs, reference, error_bound, launches = captured(__file__)
kernels/<study>/captured.py           def build(arch): return captured_code(__file__, arch)
kernels/<study>/capture/capture.json  the launches: sizes, parameters, which arrays they get and leave
kernels/<study>/capture/arrays.npz    the arrays' bytes, each content once; after the launch, what it added to each byte
kernels/<study>/capture/kernel.cubin  the machine code

The axis `launch` has the numbers of the captured launches of the kernel in its program. An array is a whole allocation
of the program's. Outputs are the arrays that the launch has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict  # pydantic's, before Python 3.12

from kernelsweep.base.json_files import read_record
from kernelsweep.errors import UserError

FOLDER = "capture"
RECORD, ARRAYS, CODE = "capture.json", "arrays.npz", "kernel.cubin"

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Function = Callable[..., Any]


class _Array(TypedDict):
    dtype: str
    bytes: int
    before: str
    after: str


class _Parameter(TypedDict):
    name: str
    hex: Annotated[str, Field(pattern="^([0-9a-f]{2})*$")]
    dtype: str
    pointers: list[tuple[int, str, int]]
    array: str


class _Launch(TypedDict):
    grid: list[int]
    block: list[int]
    shared: int
    cluster: list[int]
    cooperative: bool
    parameters: list[_Parameter]
    arrays: dict[str, _Array]


class _Record(TypedDict):
    program: str
    name: str
    kernel: str
    device: str
    arch: str
    share: float | None
    launches: Annotated[dict[str, _Launch], Field(min_length=1)]
    spread: dict[str, dict[str, str]]


@dataclass(frozen=True)
class Capture:
    """The captured launches of one kernel.

    folder  has the three files
    record  capture.json; `launches` are by number
    """

    folder: Path
    record: _Record

    @cached_property
    def _archive(self) -> Any:
        return np.load(self.folder / ARRAYS)

    def before(self, launch: int, name: str) -> np.ndarray[Any, Any]:
        """The elements of an array before a launch; unsigned integers, which hold any bits, where no type is known."""
        array = self.arrays(launch)[name]
        contents: Bytes = self._archive[array["before"]]
        return contents.view(array["dtype"])

    def after(self, launch: int, name: str) -> np.ndarray[Any, Any]:
        """The elements of an array after a launch, as before()."""
        added, before = self.arrays(launch)[name]["after"], self.before(launch, name)
        return (before.view(np.uint8) + self._archive[added]).view(before.dtype) if added else before

    def spread(self, launch: int) -> dict[str, np.ndarray[Any, Any]]:
        """How far replays moved each element of a launch's outputs at most; without those that none moved."""
        names: Mapping[str, str] = self.record["spread"].get(str(launch), {})
        return {name: self._archive[kept] for name, kept in names.items()}

    def outputs(self, launch: int) -> list[str]:
        """The arrays that a launch has changed."""
        return [name for name, array in self.arrays(launch).items() if array["after"]]

    def scalars(self, launch: int) -> dict[str, np.generic]:
        """A launch's parameters that are no plain pointer to the start of an array, by name."""
        parameters = self.record["launches"][str(launch)]["parameters"]
        return {one["name"]: _value(one) for one in parameters if not one["array"]}

    def arrays(self, launch: int) -> Mapping[str, _Array]:
        """The arrays of a launch, as the record has them."""
        return self.record["launches"][str(launch)]["arrays"]


def read_capture(folder: Path) -> Capture:
    """The capture in a folder. Raises UserError where there is none."""
    if not (folder / RECORD).exists():
        raise UserError(f"{folder / RECORD}: no such file. git ignores captures: repeat `kernelsweep capture`.")
    return Capture(folder, read_record(folder / RECORD, _Record))


def captured(file: str) -> tuple[Function, Function, Function, Function, Function]:
    """The functions inputs, outputs, reference, error_bound and launches of the capture beside a problem file.

    file  the problem file, as its own `__file__` says

    What a launch has left as it was has to stay so. A float that it has changed may be off by 8 times what replays with
    rounded inputs moved it at most (capture/replay.py), and by 4 roundings. All else has to have the captured bits,
    unless the original's differ from run to run.
    """
    capture = read_capture(Path(file).parent / FOLDER)

    def inputs(launch: int) -> dict[str, Any]:
        return {**{name: capture.before(launch, name) for name in capture.arrays(launch)}, **capture.scalars(launch)}

    def outputs(launch: int) -> dict[str, Any]:
        arrays = capture.arrays(launch)
        dtypes = {name: np.dtype(arrays[name]["dtype"]) for name in capture.outputs(launch)}
        return {name: (arrays[name]["bytes"] // dtype.itemsize, dtype) for name, dtype in dtypes.items()}

    def reference(launch: int) -> dict[str, Any]:
        return {name: capture.after(launch, name) for name in capture.outputs(launch)}

    def error_bound(launch: int) -> dict[str, Any]:
        bounds = {}
        for name, spread in capture.spread(launch).items():
            before, after = capture.before(launch, name), capture.after(launch, name)
            rounding = 4 * np.finfo(after.dtype).eps * abs(after.astype(np.float64)) if after.dtype.kind == "f" else 0
            bounds[name] = np.where(before != after, 8 * spread.astype(np.float64) + rounding, 0.0)
        return bounds

    def launches(kernel: str, launch: int, Launch: Any) -> list[Any]:
        one = capture.record["launches"][str(launch)]
        arguments = [parameter["array"] or parameter["name"] for parameter in one["parameters"]]
        sizes = {key: one[key] for key in ("grid", "block", "shared", "cooperative")}
        return [Launch(**sizes, arguments=arguments, cluster=one["cluster"] or None)]

    return inputs, outputs, reference, error_bound, launches


def captured_code(file: str, arch: str) -> dict[str, Any]:
    """The captured machine code, as the function `build` of a file in the study's folder returns it.

    Raises UserError for another architecture than that of the GPU on which it was captured.
    """
    capture = read_capture(Path(file).parent / FOLDER)
    own = capture.record["arch"]
    if arch.rstrip("af") != own.rstrip("af"):
        raise UserError(f"the captured machine code is for {own} ({capture.record['device']}), and not for {arch}")
    return {"code": (capture.folder / CODE).read_bytes(), "entry": capture.record["kernel"]}


def share_of_program(study: str, root: Path) -> tuple[str, float] | None:
    """The program that a study's kernel was captured from, and the kernel's share of all its kernels' time, 0 to 1.

    None for a study that was not captured, or whose program's kernels were not timed.
    """
    folder = root / "kernels" / study / FOLDER
    record = read_capture(folder).record if (folder / RECORD).is_file() else None
    return (record["program"], record["share"]) if record and record["share"] else None


def _value(parameter: Mapping[str, Any]) -> np.generic:
    """A parameter as NumPy's scalar: a number; or a structure, whose fields with addresses are named after arrays.

    Such a field holds the offset in bytes from the array's start, and is called `p0`, and then `p0.1`.
    """
    content = bytes.fromhex(parameter["hex"])
    if not parameter["pointers"]:
        dtype = np.dtype(parameter["dtype"] or [("bytes", "u1", (len(content),))])
        number: np.generic = np.frombuffer(content, dtype)[0]
        return number
    fields: list[Any] = []
    values: list[Any] = []
    at, times = 0, dict.fromkeys((name for _, name, _ in parameter["pointers"]), 0)
    for place, name, offset in [*parameter["pointers"], (len(content), "", 0)]:
        if place > at:
            fields.append((f"bytes.{at}", "u1", (place - at,)))
            values.append(np.frombuffer(content[at:place], np.uint8))
        if name:
            fields.append((name if not times[name] else f"{name}.{times[name]}", "u8"))
            values.append(offset)
            times[name] += 1
        at = place + 8
    structure: np.generic = np.array([tuple(values)], fields)[0]
    return structure
