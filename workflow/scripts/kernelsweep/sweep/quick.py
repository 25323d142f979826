"""The axes of a quick sweep: of a study's own values, those at which its kernels are compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kernelsweep.sweep.axes import Axes


def quick_axes(
    axes: Mapping[str, Sequence[Any]],
    quick: Mapping[str, Sequence[Any]],
    reference: Mapping[str, Any],
    tied: Sequence[Sequence[str]],
    kept: Collection[str],
) -> Axes:
    """A kernel's axes with the values only that the quick sweep or the study's reference point names.

    axes       as the study and the kernel have them
    quick      config.yaml's sweeps.quick
    reference  the study's reference point, whose values are added to axes that are the quick sweep's own
    tied       groups of axes that vary together: of these, the rows in which each value is named
    kept       axes that keep their values, such as those of one platform

    An axis, or a group, of which no value is named keeps all of them.
    """
    named = {axis: {*quick.get(axis, ()), reference.get(axis)} for axis in axes}
    chosen = {axis: list(values) for axis, values in axes.items()}
    for axis, values in chosen.items():
        if axis not in kept and values == quick.get(axis) and reference.get(axis, values[0]) not in values:
            chosen[axis] = sorted([*values, reference[axis]])
    group_of = {axis: tuple(group) for group in tied for axis in group if axis in axes}
    for group in dict.fromkeys(group_of.get(axis, (axis,)) for axis in axes):
        if any(axis in kept for axis in group):
            continue
        told = [axis for axis in group if axis in quick or axis in reference]
        rows = list(zip(*(chosen[axis] for axis in group), strict=True))
        found = [row for row in rows if told and all(row[group.index(axis)] in named[axis] for axis in told)]
        for number, axis in enumerate(group):
            chosen[axis] = [row[number] for row in found or rows]
    return chosen
