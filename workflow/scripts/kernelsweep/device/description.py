"""What device.json says of a device, and environment.json again: each reader of a device gets it checked from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kernelsweep.base.json_files import read_record

# A text in one line, which pages and headers show.
Line = Annotated[str, Field(pattern=r"^[^\pC\pZ]+( +[^\pC\pZ]+)*$")]
_Amount = Annotated[float, Field(gt=0, lt=2**63)]
_Count = Annotated[int, Field(gt=0, lt=2**63)]


class _Device(BaseModel):
    """What each device's description has. Further keys are kept as they are."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    platform: Line
    name: Line
    multiprocessors: _Count
    provenance: Line
    title: Line | None = None  # What pages call it, if not by its name.
    by_study: Mapping[str, Mapping[Literal["provenance", "title", "profiled"], Line]] = {}


class _Emulator(_Device):
    kind: Literal["emulator"]
    peak_bandwidth_gbs: None


class GpuDevice(_Device):
    """A GPU's description."""

    kind: Literal["gpu"]
    driver: Line
    compute_capability: Annotated[str, Field(pattern=r"^[1-9][0-9]*\.[0-9]$")]
    multiprocessor_clock_mhz: _Amount
    peak_bandwidth_gbs: _Amount
    memory_bytes: _Count
    l2_bytes: _Count

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        """Raise ValueError where the provenance, which pages show beside the name, tells of another GPU or driver."""
        for text in (self.name, self.driver):
            if text not in self.provenance:
                raise ValueError(f"provenance is {self.provenance!r}, which does not name {text!r}")
        return self


_AnyDevice = Annotated[_Emulator | GpuDevice, Field(discriminator="kind")]


def read_device(path: str | Path, studies: Iterable[str] = ()) -> dict[str, Any]:
    """The description of a device in device.json. Raises UserError, naming file and key, where it is none.

    studies  what is told of; where it is a single study, the description has what `by_study` says of it
    """
    device: _Emulator | GpuDevice = read_record(path, _AnyDevice)
    names = list(studies)
    return device.model_dump() | dict(device.by_study.get(names[0], {}) if len(names) == 1 else {})
