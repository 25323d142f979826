"""The data of a problem file for some values of its axes, kept on disk where it is large, and the judge of results."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
import shutil
import tempfile
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kernelsweep.errors import UserError, shown_value
from kernelsweep.study.problem.array_values import (
    ArrayValue,
    read_compared,
    read_declared,
    read_input,
    read_mapping,
    read_only,
)
from kernelsweep.study.problem.comparison import difference, error_share
from kernelsweep.study.problem.drawn import DRAWN, NAN, drawn_as, widened_bound
from kernelsweep.study.problem.problem import Array, Elements, Judgement, RightValues, Scalar
from kernelsweep.study.problem.user_module import GIVEN, RESERVED, UserFunction, check_parameters


class ReferenceStore:
    """The arrays of one version of a problem file: a folder for each set of them, with a file for each array.

    What was cut is computed again.
    """

    def __init__(self, folder: Path, version: str) -> None:
        """A store in `folder`, which is that of one problem file only.

        version  SHA-256 of the file's code and data, in hexadecimal digits
        """
        self._folder = folder / version

    def load(self, key: Any, facts: dict[str, Any] | None = None) -> dict[str, ArrayValue] | None:
        """The arrays kept under a key, mapped into memory; None if there are none, or if a file is not as written.

        facts  gets what was kept beside the arrays
        """
        folder, arrays = self._of(key), {}
        try:
            kept = json.loads((folder / "shapes.json").read_text(encoding="utf-8"))
            for name, shape in kept["shapes"].items():
                contents = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
                if contents.ndim != 1 or not 0 < contents.size <= math.prod(shape):
                    return None
                arrays[name] = ArrayValue(contents.dtype, tuple(shape), contents)
            if facts is not None:
                facts |= kept["facts"]
            return arrays if kept["key"] == key else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError):
            return None

    def save(self, key: Any, arrays: Mapping[str, ArrayValue], facts: Mapping[str, Any] | None = None) -> None:
        """Keep arrays under a key, with facts of JSON's types, and delete what other versions of the file have left.

        Where the disk is full or can't be written, nothing is kept.
        """
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            for other in self._folder.parent.iterdir():
                if other != self._folder and re.fullmatch("[0-9a-f]{64}", other.name):
                    shutil.rmtree(other, ignore_errors=True)
            part = Path(tempfile.mkdtemp(dir=self._folder, suffix=".part"))
            try:
                for name, array in arrays.items():
                    np.save(part / f"{name}.npy", array.elements, allow_pickle=False)
                shapes = {name: array.shape for name, array in arrays.items()}
                text = json.dumps({"key": key, "shapes": shapes, "facts": dict(facts or {})})
                (part / "shapes.json").write_text(text, encoding="utf-8")
                shutil.rmtree(self._of(key), ignore_errors=True)
                part.rename(self._of(key))
            finally:
                shutil.rmtree(part, ignore_errors=True)

    def _of(self, key: Any) -> Path:
        return self._folder / hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()


# Inputs of so many bytes take longer to make than to map; and of so many, longer to write than to make.
_LARGE, _TOO_LARGE = 2**20, 2**31

# Smaller ones are kept that took so many seconds, so that no device waits for them.
_SLOW_SECONDS = 0.1

# Arrays that took fewer seconds to compute are made again sooner than they are kept and found.
_DEAR_SECONDS = 0.002

# An error that is so many times its bound needs no number.
_FAR = 1000

# The results of up to this many elements, one for each lane of a warp, are shown in full.
_SHOWN = 32


@dataclass(frozen=True)
class Inputs:
    """The inputs of a problem file for some values of the axes that its function `inputs` names.

    store  keeps large ones on disk, with their digest, so that all processes of a run share one copy
    """

    function: UserFunction | None
    kernel: str
    seed: int
    axes: Mapping[str, Any]
    store: ReferenceStore | None = field(default=None, compare=False)

    @cached_property
    def by_name(self) -> dict[str, ArrayValue | Scalar]:
        """Arrays and scalars. Raises UserError."""
        return self._made[0]

    @property
    def as_given(self) -> dict[str, Any]:
        """What functions get that name an input."""
        return {
            name: value.as_given if isinstance(value, ArrayValue) else value for name, value in self.by_name.items()
        }

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all inputs."""
        return self._made[1] or _digest(self.by_name)

    @cached_property
    def _made(self) -> tuple[dict[str, ArrayValue | Scalar], str]:
        """The inputs, and their digest if it is known already."""
        if self.function is None:
            return {}, ""
        named = self.function.parameters
        key = ["inputs", self.axes, self.seed, self.kernel if "kernel" in named else None, np.__version__]
        facts: dict[str, Any] = {}
        if self.store and (kept := self.store.load(key, facts)):
            numbers = {name: np.dtype(kind).type(value) if kind else value for name, kind, value in facts["scalars"]}
            tensors = {name: replace(kept[name], is_tensor=True) for name in facts.get("tensors", ())}
            return {**kept, **numbers, **tensors}, facts["digest"]
        given = {"kernel": self.kernel, "random": generator("inputs", self.seed, self.axes)}
        started = time.perf_counter()
        returned = self.function.call(self.axes, given)
        is_slow = time.perf_counter() - started > _SLOW_SECONDS
        made = read_mapping(returned, self.function.shown, "{'A': random.random(n, np.float32)}", read_input)
        arrays = {name: value for name, value in made.items() if isinstance(value, ArrayValue)}
        size = sum(array.elements.nbytes for array in arrays.values())
        # NumPy's files and JSON have no structures, and no types of other packages.
        typed = [value.dtype for value in made.values() if isinstance(value, ArrayValue | np.generic)]
        if (
            not self.store
            or not (is_slow or size >= _LARGE)
            or size >= _TOO_LARGE
            or any(one.names or one.isbuiltin == 2 or one.kind == "c" for one in typed)
        ):
            return made, ""
        scalars = [
            (name, *((value.dtype.name, value.item()) if isinstance(value, np.generic) else ("", value)))
            for name, value in made.items()
            if not isinstance(value, ArrayValue)
        ]
        digest = _digest(made)
        of_torch = [name for name, array in arrays.items() if array.is_tensor]
        self.store.save(key, arrays, {"scalars": scalars, "digest": digest, "tensors": of_torch})
        return made, digest


def _digest(inputs: Mapping[str, ArrayValue | Scalar]) -> str:
    digest = hashlib.sha256()
    for name, value in sorted(inputs.items()):
        if isinstance(value, ArrayValue):
            digest.update(f"{name} {value.dtype} {value.shape} {value.elements.size} ".encode())
            digest.update(value.elements.view(np.uint8).data)
        else:
            shown = value.tobytes() if isinstance(value, np.void) else value
            digest.update(f"{name} {type(value).__name__} {shown!r} ".encode())
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class FileInstance:
    """The data of a problem file for the values of its data axes, and the judge of results.

    kernel                    the name of the kernel whose points these are
    inputs, outputs, scratch  arrays (and scalars) by name
    store                     keeps references on disk, if there is one
    """

    kernel: str
    functions: Mapping[str, UserFunction]
    axes: Mapping[str, Any]
    inputs: Inputs
    outputs: Mapping[str, ArrayValue]
    scratch: Mapping[str, ArrayValue]
    store: ReferenceStore | None
    _bounds: dict[int, dict[str, ArrayValue]] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The values of its axes, for messages."""
        return " ".join(f"{axis}={value}" for axis, value in self.axes.items())

    @cached_property
    def expected(self) -> dict[str, ArrayValue]:
        """The reference's arrays. Raises UserError."""
        return self._kept("reference", {}, self._key("reference"))

    def bounds(self, roundings: int = 0) -> dict[str, ArrayValue]:
        """How far results may be off, by name; results that are not among them have to be exact. Raises UserError.

        roundings  the longest chain of roundings of an element, which error_bound may ask for
        """
        if "error_bound" not in self.functions:
            return {}
        roundings = roundings if self._asks_for_roundings else 0
        if roundings not in self._bounds:
            given = {"expected": {name: array.as_given for name, array in self.expected.items()}}
            key = None if self._asks_for_roundings else [self._key("error_bound"), self._key("reference")]
            self._bounds[roundings] = self._kept("error_bound", {**given, "roundings": roundings}, key)
        return self._bounds[roundings]

    @property
    def _asks_for_roundings(self) -> bool:
        return "error_bound" in self.functions and "roundings" in self.functions["error_bound"].parameters

    def expect(self, roundings: int | None = None) -> None:
        """Compute the reference and its bounds now, so that judge() finds them, or another process on disk.

        roundings  as for bounds(); without them, bounds that ask for them are not computed

        Raises UserError.
        """
        if "reference" in self.functions:
            _ = self.expected
            if roundings is not None or not self._asks_for_roundings:
                _ = self.bounds(roundings or 0)

    def check(self) -> None:
        """Raise UserError for a reference of other arrays than the outputs."""
        if self.is_judged and {"mistake", "result"}.isdisjoint(self.functions):
            self._check_names_and_shapes(self.outputs)
            _ = self.bounds()

    def arrays(self) -> dict[str, Array]:
        """The arrays of its points by name, without those that only its kernel has.

        Contents that are equal at several points are one object: so they stay on the device between the points.
        """
        declared = {**self.outputs, **self.scratch}
        arrays = {}
        for name, value in {**declared, **self.inputs.by_name}.items():
            if isinstance(value, ArrayValue):
                updated = name in declared and value.contents is not None
                arrays[name] = Array(
                    value.dtype, value.size, value.contents, updated, name in self.outputs, value.shape
                )
        return arrays

    def scalars(self) -> dict[str, Scalar]:
        """The scalars among the inputs: NumPy's with their own width, Python's numbers without one."""
        return {name: value for name, value in self.inputs.by_name.items() if not isinstance(value, ArrayValue)}

    def right_values(self) -> Mapping[str, RightValues]:
        """The right values of each result by name, at all points of the instance; none if only judge() can tell.

        Raises UserError.
        """
        if not self.is_judged or not {"mistake", "result"}.isdisjoint(self.functions) or self._asks_for_roundings:
            return {}
        if self.axes.get(DRAWN) == NAN:
            return {}  # A device takes NaN for wrong.
        self._check_names_and_shapes(self.outputs)
        if sum(array.size for array in self.outputs.values()) <= _SHOWN:
            return {}  # The host shows them.
        bounds = self.bounds()
        # A device can tell elements that have to be equal, and floats by float64, as the host.
        for name in bounds:
            are_floats = self.outputs[name].dtype.name in ("float16", "bfloat16", "float32", "float64")
            if not are_floats or not all(np.can_cast(of[name].dtype, np.float64) for of in (self.expected, bounds)):
                return {}
        return {
            name: RightValues(
                self.expected[name].elements, bounds[name].elements.astype(np.float64) if name in bounds else None
            )
            for name in self.outputs
        }

    @property
    def is_judged(self) -> bool:
        """Whether a function says which results are right. Only a kernel that is no study's may be without one."""
        return not {"reference", "mistake"}.isdisjoint(self.functions)

    def judge(self, results: Mapping[str, Elements], depth: int) -> Judgement:
        """Compare a kernel's results with the reference, floats within the problem's own bounds. Raises UserError.

        results  the elements of each result by its array's name
        depth    the longest chain of roundings that an element's value goes through before it reaches the host
        """
        if not self.is_judged:
            return Judgement(None)
        found = {}
        for name, elements in results.items():  # One of the kernel's own arrays is in a row.
            declared = self.outputs.get(name)
            has_shape = declared is not None and declared.size == elements.size
            found[name] = read_only(elements.reshape(declared.shape) if declared and has_shape else elements)
        if "mistake" in self.functions:
            mistake = self._call("mistake", {**found, "outputs": found})
            if mistake is not None and not (isinstance(mistake, str) and mistake):
                raise UserError(
                    f"{self.functions['mistake'].shown} returns {shown_value(mistake)}. Allowed: a sentence, or None."
                )
            return Judgement(mistake)
        compared = self._compared(found)
        bounds = self.bounds(depth)
        mistake = self.difference(compared, bounds)
        output = _in_words(compared)
        bounded = {name: of for name, of in compared.items() if name in bounds and of.size == self.expected[name].size}
        shares = [error_share(array.elements, self.expected[name], bounds[name]) for name, array in bounded.items()]
        if mistake:
            largest = max(shares, default=0.0)
            if 1 < largest < _FAR:
                mistake += f"; the largest error is {largest:.3g} times its bound"
            return Judgement(mistake, output=output, error_share=largest or None)
        error = None
        for name, one in bounded.items():  # Of a result of one float, its distance as a fraction of the reference.
            if len(compared) == one.size == 1 and one.dtype.kind == "f":
                expected, value = (float(array.elements[0]) for array in (self.expected[name], one))
                error = abs(value - expected) / abs(expected) if expected else abs(value)
        return Judgement(None, error, output, max(shares, default=None))

    def difference(self, compared: Mapping[str, ArrayValue], bounds: Mapping[str, ArrayValue]) -> str | None:
        """How values differ from the reference, in a sentence, or None if they are right. Raises UserError."""
        self._check_names_and_shapes(compared)
        for name, array in compared.items():
            if array.size != self.expected[name].size:
                return f"{name}: expected {self.expected[name].size:,} elements, found {array.size:,}"
            sentence = difference(name, array.elements, self.expected[name], bounds.get(name), array.shape)
            if sentence:
                return sentence
        return None

    def _check_names_and_shapes(self, compared: Mapping[str, ArrayValue]) -> None:
        """Raise UserError unless the reference has what is compared with it. How much there is, `result` decides."""
        has_result = "result" in self.functions
        by = self.functions["result" if has_result else "outputs"].name
        reference = self.functions["reference"].shown
        if {*compared} != {*self.expected}:
            told = [", ".join(names) or "nothing" for names in (self.expected, compared)]
            raise UserError(f"{reference} returns {told[0]}. {by} returns {told[1]}.")
        for name, array in compared.items():
            shape = self.expected[name].shape
            is_count = has_result and len(shape) == len(array.shape) > 0
            if shape != array.shape and not is_count and not self.expected[name].size == array.size == 1:
                raise UserError(f"{reference} gives {name} the shape {shape}. {by} gives it {array.shape}.")

    def _compared(self, found: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, ArrayValue]:
        """What is compared with the reference: the outputs, or what `result` makes of them."""
        if "result" not in self.functions:
            return {name: ArrayValue(array.dtype, array.shape, array.reshape(-1)) for name, array in found.items()}
        return self._read("result", {**found, "outputs": found})

    def _call(self, name: str, given: Mapping[str, Any]) -> Any:
        """What a function returns for the inputs, and for `given`, which may hide some of them."""
        function = self.functions[name]
        axes = {axis: value for axis, value in self.axes.items() if axis in function.parameters}
        random = generator(name, self.inputs.seed, axes)
        inputs = self.inputs.as_given
        given = {"kernel": self.kernel, **inputs, "inputs": inputs, "random": random, **given}
        return function.call(self.axes, given)

    def _kept(self, name: str, given: Mapping[str, Any], key: Any) -> dict[str, ArrayValue]:
        """The arrays of reference or error_bound: from the disk, or computed and kept there if there is a key."""
        store = self.store if key is not None else None
        kept = store.load(key) if store else None
        if kept is not None:
            return kept
        started = time.perf_counter()
        arrays = self._read(name, given)
        is_dear = time.perf_counter() - started > _DEAR_SECONDS
        for output, array in arrays.items():
            if name == "error_bound":
                arrays[output] = array = replace(array, contents=widened_bound(array.elements, self.axes))
                self._check_bound(output, array)
            elif array.dtype.kind in "fc" and self.axes.get(DRAWN) != NAN and np.isnan(array.elements).any():
                raise UserError(f"{self.functions[name].shown}: {output} contains NaN, which no result can equal.")
        if store and is_dear:
            store.save(key, arrays)
        return arrays

    def _read(self, name: str, given: Mapping[str, Any]) -> dict[str, ArrayValue]:
        """The arrays that reference, error_bound or result return."""
        example = "{'sum': partials.sum()}" if name == "result" else "{'C': A + B}"
        return read_mapping(self._call(name, given), self.functions[name].shown, example, read_compared)

    def _check_bound(self, name: str, bound: ArrayValue) -> None:
        """Raise UserError unless a bound is a number from 0 on for all elements, or for each."""
        shown = self.functions["error_bound"].shown
        if name not in self.expected:
            raise UserError(f"{shown} returns {name}. reference returns {', '.join(self.expected) or 'nothing'}.")
        shape = self.expected[name].shape
        if bound.shape not in (shape, ()):
            raise UserError(f"{shown} gives {name} the shape {bound.shape}. Allowed: {shape}, or one number for all.")
        if bound.dtype.kind not in "iuf" or not (np.isfinite(bound.elements) & (bound.elements >= 0)).all():
            raise UserError(
                f"{shown}: {name} contains a value that is negative, infinite or NaN. Allowed: numbers from 0."
            )

    def _key(self, name: str) -> Any:
        """All that a function's values depend on besides the file's code, for the store of references."""
        parameters = self.functions[name].parameters
        axes = {axis: value for axis, value in self.axes.items() if axis in (*parameters, DRAWN)}
        seed = self.inputs.seed if "random" in parameters else None
        kernel = self.kernel if "kernel" in parameters else None
        return [name, axes, kernel, seed, self.inputs.digest, np.__version__]


def make_instance(
    kernel: str,
    functions: Mapping[str, UserFunction],
    axes: Mapping[str, Any],
    inputs: Inputs,
    store: ReferenceStore | None,
    known: Collection[str],
) -> FileInstance:
    """The instance for values of the data axes. The reference is computed when it is first needed.

    known  all axes of the study

    Raises UserError where the functions are wrong, or don't fit together.
    """
    outputs, scratch = (_declared(functions.get(name), axes, kernel) for name in ("outputs", "scratch"))
    if not outputs:
        raise UserError(f"{functions['outputs'].shown} returns no array. Kernels have to fill one.")
    for name, arrays in (("outputs", {*outputs}), ("scratch", {*scratch}), ("inputs", {*inputs.by_name})):
        for array in arrays:
            if array in known or array in RESERVED:
                of = "an axis" if array in known else "what functions get besides arrays"
                raise UserError(f"{functions[name].shown} returns {array!r}, the name of {of}. Call it otherwise.")
    for name in {*outputs} & {*scratch}:
        raise UserError(f"{functions['scratch'].shown} returns {name!r}, which is an output already.")
    for name, declared in {**outputs, **scratch}.items():
        given = inputs.by_name.get(name)
        is_same = isinstance(given, ArrayValue) and (given.shape, given.dtype) == (declared.shape, declared.dtype)
        if given is not None and (not is_same or declared.contents is not None):
            shown = functions["outputs" if name in outputs else "scratch"].shown
            raise UserError(
                f"{shown} gives {name} the shape {declared.shape} and the type {declared.dtype}. It is an input, too, "
                "and has to be the same array there, without an initial value."
            )
    for function in functions.values():
        if function.names_data:
            data = {*inputs.by_name, *(outputs if "outputs" in GIVEN[function.name] else ())}
            check_parameters(function, {*known, *GIVEN[function.name], *data})
    return FileInstance(kernel, functions, axes, inputs, outputs, scratch, store)


def _declared(function: UserFunction | None, axes: Mapping[str, Any], kernel: str) -> dict[str, ArrayValue]:
    """The arrays of outputs or scratch."""
    if function is None:
        return {}
    return read_mapping(
        function.call(axes, {"kernel": kernel}), function.shown, "{'C': ((n, n), np.float32)}", read_declared
    )


def generator(function: str, seed: int, axes: Mapping[str, Any]) -> np.random.Generator:
    """What a function gets as `random`: the same for the same seed and values of the axes that it names."""
    digest = hashlib.sha256(json.dumps([function, seed, sorted(axes.items())]).encode()).digest()
    return drawn_as(np.random.default_rng(int.from_bytes(digest, "little")), axes)


def _in_words(compared: Mapping[str, ArrayValue]) -> str:
    """The elements of integer results, where they are few; "" for others."""
    elements = [value for array in compared.values() if array.dtype.kind in "iu" for value in array.elements.tolist()]
    total = sum(array.size for array in compared.values())
    return " ".join(map(str, elements)) if len(elements) == total <= _SHOWN else ""
