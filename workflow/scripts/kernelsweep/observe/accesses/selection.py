"""Select the steps of a study's story whose accesses are drawn, each at a small point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.sweep.kernels.build_targets import EMULATOR
from kernelsweep.sweep.kernels.source import GRID_SIZE
from kernelsweep.sweep.point import Point
from kernelsweep.sweep.points import skip_reason
from kernelsweep.sweep.study import Study

# Four warps: whole warps fall idle in a tree's second step and third, and its few steps fit into the picture.
DRAWN_BLOCK = 128


@dataclass(frozen=True)
class PicturedStep:
    """A step with a picture.

    place  its place in the story, from 0: in the ladder, or among the kernels of a study without one
    name   of the picture; steps that differ in their grid alone have the same one
    """

    place: int
    name: str
    kernel: str
    point: Point


def pictured_steps(study: Study, counted: Mapping[str, Sequence[Point]]) -> list[PicturedStep]:
    """The study's steps, or else its kernels; without those that can't run, and none where outputs are compared.

    counted  the points of each kernel that are counted on the emulator
    """
    if study.settings["compares"] == "outputs":
        return []
    steps = [(step["kernel"], step["unroll"]) for step in study.settings["steps"]]
    if not steps:
        steps = [(name, None) for name in study.kernels]
    found = []
    for place, (kernel, unroll) in enumerate(steps):
        point = next((point for point in counted[kernel] if unroll is None or point.get("unroll", 1) == unroll), None)
        if point is not None and unroll is not None:
            point = _one_block(study, kernel, point)
        if point is not None:
            found.append(PicturedStep(place, kernel + (f"_x{unroll}" if (unroll or 1) > 1 else ""), kernel, point))
    return found


def _one_block(study: Study, kernel: str, point: Point) -> Point | None:
    """The point with one block of four warps in its first launch, where it has these axes; None where it can't run."""
    source = study.kernels[kernel]
    if not {"array_size", "block_size", "unroll"} <= {*point}:
        return point
    elements = 4 * DRAWN_BLOCK if source.chooses_grid else DRAWN_BLOCK * point["unroll"]
    small = point.at(block_size=DRAWN_BLOCK, array_size=elements)
    if source.chooses_grid:
        small = small.at(**{GRID_SIZE: 1})
    restrictions = [*study.settings["restrictions"], *source.restrictions]
    return None if skip_reason(small, source, restrictions, EMULATOR) else small
