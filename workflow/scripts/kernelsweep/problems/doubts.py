"""Whether a problem file's check can see a mistake: plain wrong results that it would take for right ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.problems.array_values import ArrayValue
from kernelsweep.problems.file_instance import FileInstance
from kernelsweep.problems.problem import Elements, Point


def doubts(instance: FileInstance, point: Point) -> list[str]:
    """A sentence for each plain mistake that the problem's check would not find; none if it finds all.

    The mistakes are those of plain_mistakes(), memory left as it was before the run, and the loss of an input's last
    element. The reference is computed once for each input, so that the point should be a small one. Raises UserError
    where a function of the file is wrong, and where this machine has no memory for the outputs.
    """
    instance.check()
    where = f"{instance.functions['outputs'].module.shown}, at {instance.place}"
    faked = [told for told, results in _fakes(instance, point) if instance.judge(point, results, 1).mistake is None]
    return [
        *(f"{where}: {told} would pass. The inputs or the check can't show this mistake there." for told in faked),
        *(
            f"{where}: the loss of the last element of {name} would pass. If a right kernel needs that element, "
            "the inputs or the check can't show this mistake there."
            for name in _unseen_inputs(instance)
        ),
    ]


def _fakes(instance: FileInstance, point: Point) -> Iterator[tuple[str, dict[str, Elements]]]:
    """Wrong results, each with what it is: one output after another if the right ones are known, else all at once."""
    # Those of a right kernel; none if the problem has no reference of the outputs themselves.
    known = instance.expected if {"mistake", "result"}.isdisjoint(instance.functions) else {}
    right = {name: _as_output(instance, name, array).part(0, array.size) for name, array in known.items()}
    arrays = instance.arrays(point)
    zeros = {name: np.zeros(array.size, array.dtype) for name, array in instance.outputs.items()}
    held = {name: arrays[name].contents for name in zeros}
    before = {name: zeros[name] if row is None else np.resize(row, zeros[name].size) for name, row in held.items()}
    for group in [[name] for name in right] or [[*zeros]]:
        if any(held[name] is not None for name in group):
            yield f"{' and '.join(group)} as before the run", {**right, **{name: before[name] for name in group}}
    if not right:
        yield f"zeros in {' and '.join(zeros)}", zeros
    for name, elements in right.items():
        for told, wrong in plain_mistakes(name, elements):
            yield told, {**right, name: wrong}


def plain_mistakes(name: str, right: Elements) -> Iterator[tuple[str, Elements]]:
    """Wrong elements in place of the right ones of a result, each with what they are.

    They are zeros, ones, the mean everywhere, and the smallest and the largest element swapped.
    """
    yield f"zeros in {name}", np.zeros_like(right)
    yield f"ones in {name}", np.ones_like(right)
    if right.size > 1 and right.dtype != np.bool_:
        mean = right.astype(np.promote_types(right.dtype, np.float64)).mean()
        yield f"the mean in all of {name}", np.full(right.size, mean).astype(right.dtype)
    if right.min() != right.max():
        low, high = int(right.argmin()), int(right.argmax())
        swapped = right.copy()
        swapped[low], swapped[high] = right[high], right[low]
        yield f"two swapped elements of {name}", swapped


def _as_output(instance: FileInstance, name: str, array: ArrayValue) -> ArrayValue:
    """An array of a reference in the type that kernels give it."""
    if "result" in instance.functions:
        return array
    dtype = instance.outputs[name].dtype
    return ArrayValue(dtype, array.shape, array.elements.astype(dtype))


def _unseen_inputs(instance: FileInstance) -> Iterator[str]:
    """The inputs whose last element might as well be zero, as far as the check sees, and isn't indifferent."""
    for name, value in instance.inputs.by_name.items() if "reference" in instance.functions else ():
        if not isinstance(value, ArrayValue) or not value.elements[-1]:
            continue
        lossy = _with_last(instance, name, value, 0)
        # A reference that does not accept such an input would show the loss.
        if lossy is None or instance.difference(lossy, instance.bounds(1)) is not None:
            continue
        # The reference gives the same bits whatever the element is: no right kernel needs it.
        others = [lossy, *(_with_last(instance, name, value, other) for other in _others(value))]
        if not all(
            other is not None
            and all(
                np.array_equal(
                    one.elements, instance.expected[of].elements.astype(one.dtype), equal_nan=one.dtype.kind in "fc"
                )
                for of, one in other.items()
            )
            for other in others
        ):
            yield name


def _others(value: ArrayValue) -> list[object]:
    """Other values for the last element of an array: its negative, and one larger than all."""
    if value.dtype.kind in "iu":
        return [~value.elements[-1], np.iinfo(value.dtype).max]
    return [] if value.dtype.kind not in "fc" else [-value.elements[-1], 2 * np.abs(value.elements).max() + 1]


def _with_last(instance: FileInstance, name: str, value: ArrayValue, last: object) -> dict[str, ArrayValue] | None:
    """What the reference gives with another last element of an input, as outputs; None if it doesn't accept it."""
    contents = value.elements.copy()
    contents[-1] = last
    try:
        found = instance.reference_with({name: ArrayValue(value.dtype, value.shape, contents).as_given})
    except UserError:
        return None
    return {one: _as_output(instance, one, array) for one, array in found.items()}
