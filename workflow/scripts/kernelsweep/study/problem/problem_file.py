"""The problem of a study: a Python file whose functions make the data and say which results are right.

Its functions name what they need as parameters, and get it: axes of the study, `random` (a NumPy generator), arrays and
scalars of another function, or all that another function gives (`inputs`, `outputs`, and `expected` from the
reference). So it is known which axes the data depends on. GIVEN in user_module.py says what each function may name.

    inputs       arrays and scalars by name: a NumPy array, a number, or (shape, contents) for contents that repeat
    outputs      arrays that kernels fill: (shape, dtype), or (shape, dtype, initial value). An array that is an input,
                 too, is updated in place
    scratch      further arrays, which nobody compares
    reference    the right outputs, in float64 or integers
    error_bound  how far each output may be off; an output without a bound has to be exact
    result       what is compared with the reference instead of the outputs
    mistake      instead of a reference: what is wrong with the outputs, in a sentence, or None
    work         counts of one run by unit, such as "bytes" and "flops"; "arithmetic" is the flops' kind, as "float32"
    launches     the launches of one run of a kernel: each a Launch, which the function gets as a parameter, too
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import numpy as np

from kernelsweep.base.code_hash import user_code_hash
from kernelsweep.errors import UserError, check_known, shown_value
from kernelsweep.study.problem.drawn import DRAWN
from kernelsweep.study.problem.file_instance import FileInstance, Inputs, ReferenceStore, make_instance
from kernelsweep.study.problem.problem import ARITHMETIC, Axis, Elements, Point
from kernelsweep.study.problem.user_module import OF_DATA, UserFunction, UserModule, load, read_functions


def doubts(instance: FileInstance) -> list[str]:
    """A sentence for each plain mistake that the problem's check would not find; none if it finds all.

    The mistakes are those of plain_mistakes(), results in the next lower precision, and memory left as it was before
    the run. Raises UserError where a function of the file is wrong.
    """
    instance.check()
    where = f"{instance.functions['outputs'].module.shown}, at {instance.place}"
    faked = [told for told, results in _fakes(instance) if instance.judge(results, 1).mistake is None]
    return [f"{where}: {told} would pass. The inputs or the check can't show this mistake there." for told in faked]


def _fakes(instance: FileInstance) -> Iterator[tuple[str, dict[str, Elements]]]:
    """Wrong results, each with what it is: one output after another if the right ones are known, else all at once."""
    # Those of a right kernel; none if the problem has no reference of the outputs themselves.
    known = instance.expected if {"mistake", "result"}.isdisjoint(instance.functions) else {}
    right = {name: array.part(0, array.size).astype(instance.outputs[name].dtype) for name, array in known.items()}
    arrays = instance.arrays()
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
        lower, bits = _LOWER.get(elements.dtype.name, ("", 0))
        if lower and (rounded := _rounded(elements, bits)).tobytes() != elements.tobytes():
            yield f"{name} rounded to {lower}", {**right, name: rounded}


# The type of the next lower precision, and the bits of its significand with the leading one. Of float32 that is not
# float16, nor tf32: what tensor cores round to these may be right.
_LOWER = {"float64": ("float32", 24), "float32": ("bfloat16", 8)}
_LOWER |= {"float16": ("float8_e4m3fn", 4), "bfloat16": ("float8_e5m2", 3)}


def _rounded(elements: Elements, bits: int) -> Elements:
    """Elements whose significands are rounded to so many bits."""
    significands, exponents = np.frexp(elements.astype(np.float64))
    rounded: Elements = np.ldexp(np.rint(np.ldexp(significands, bits)), exponents - bits).astype(elements.dtype)
    return rounded


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


_EXAMPLE = "[Launch(grid=n // 256, block=256, arguments=['A', n])]"


@dataclass(frozen=True, kw_only=True)
class UserLaunch:
    """One launch of a run. Functions get this class as their parameter `Launch`.

    grid       the number of blocks, or up to three numbers; rounded up
    block      the number of threads of a block, or up to three numbers
    arguments  names of arrays and scalars, and numbers: NumPy's at their own width, Python's at the parameter's
    kernel     the C++ function, with the values of its template arguments: ``sums<256, float>``; empty for the function
               of the file's name
    shared     the bytes of dynamic shared memory; None for what the study says of the kernel
    cluster, cooperative, programmatic  as in a study's launches
    """

    grid: float | Sequence[float]
    block: int | Sequence[int]
    arguments: Sequence[str | float | np.generic]
    kernel: str = ""
    shared: int | None = None
    cluster: int | Sequence[int] | None = None
    cooperative: bool = False
    programmatic: bool = False


def read_launches(returned: Any, where: str) -> tuple[UserLaunch, ...]:
    """The launches that a function returns. Raises UserError unless they are some; their numbers are checked later."""
    launches = tuple(returned) if isinstance(returned, list | tuple) else ()
    if not launches or not all(
        isinstance(one, UserLaunch)
        and isinstance(one.kernel, str)
        and isinstance(one.arguments, list | tuple)
        and all(isinstance(argument, str | int | float | np.generic) for argument in one.arguments)
        for one in launches
    ):
        raise UserError(
            f"{where} returns {shown_value(returned)}. It has to return a list of launches, such as {_EXAMPLE}."
        )
    return launches


# A point's values on the axes that its data depend on.
Data = tuple[Any, ...]


class Named(TypedDict):
    """A problem as settings and tasks name it: its file, the study's axes, and the files that it reads.

    axes    each with whether its values are words
    kernel  as which kernel its functions know all kernels, where those solve it in the place of one
    root    the folder that paths start from; left out: the working folder
    judged  False where no function says which results are right, as of a kernel that is only watched. No study's file
            can say so
    """

    file: str
    axes: dict[str, bool]
    data: list[str]
    kernel: NotRequired[str]
    root: NotRequired[str]
    judged: NotRequired[bool]


# Where large inputs and references are kept that the functions of problem files have made, below the folder of results.
_REFERENCES = Path("results/references")


@dataclass(frozen=True, eq=False)
class Problem:
    """A problem file with a study's axes, checked as far as that is possible without calling its functions.

    named       the problem as settings and tasks name it, for problem_of()
    references  the folder in which its references are kept
    """

    named: Named
    module: UserModule
    functions: Mapping[str, UserFunction]
    references: Path
    _latest: dict[str, Inputs] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file's name."""
        return str(self.named["file"])

    @property
    def files(self) -> tuple[Path, ...]:
        """The file, the user's modules that it imports, and its data: after a change to one, results may differ."""
        return self.module.files

    @cached_property
    def axes(self) -> dict[str, Axis]:
        """The study's axes. One that neither the inputs nor the right results depend on is the kernel's."""
        of_problem = ("cache", *self._problem_axes)
        return {name: Axis(name not in of_problem, has_texts) for name, has_texts in self.named["axes"].items()}

    @cached_property
    def instance_axes(self) -> tuple[str, ...]:
        """The axes that the data and its judgement depend on. Points that agree on them share an instance."""
        return self._named_axes(OF_DATA)

    def data_of(self, point: Point) -> Data:
        """A point's values on instance_axes: points with equal ones share an instance."""
        return tuple(point[axis] for axis in self.instance_axes)

    @cached_property
    def size_axes(self) -> tuple[str, ...]:
        """The axes with numbers that say how large the problem is: those of the inputs and of the right results."""
        return tuple(name for name in self._problem_axes if not self.named["axes"][name])

    @cached_property
    def _problem_axes(self) -> tuple[str, ...]:
        """The axes that say what is computed. Arrays of partial results may depend on others, such as a block size."""
        return self._named_axes(["inputs", "reference" if "reference" in self.functions else "mistake"])

    def size(self, point: Point) -> float:
        """How large the problem is at a point: the product of the numbers on its size axes."""
        return float(prod(point[axis] for axis in self.size_axes))

    def instance(self, kernel: str, point: Point, seed: int) -> FileInstance:
        """The data of a kernel's point and the judge of results, for all points that agree on the instance's axes.

        Equal axes and an equal seed give equal data. A reference is kept as long as the file's code, its data, the
        values of its axes and the inputs stay the same. Raises UserError where a function of the file is wrong.
        """
        kernel = self.named.get("kernel", kernel)
        store = ReferenceStore(self.references, user_code_hash(self.files))
        values = {axis: _plain(point[axis]) for axis in self.instance_axes}
        of_inputs = {axis: values[axis] for axis in self._named_axes(["inputs"])}
        inputs = Inputs(self.functions.get("inputs"), kernel, seed, of_inputs, store)
        # Instances of the same inputs, one after another, share them: they may take a while, and much memory.
        if self._latest.get("inputs") != inputs:
            self._latest["inputs"] = inputs
        return make_instance(kernel, self.functions, values, self._latest["inputs"], store, [*self.named["axes"]])

    def for_workers(self, root: Path, kernel: str, points: Iterable[Point], seeds: Iterable[int]) -> Named:
        """The problem as a process that runs these points of a kernel finds it, with these seeds.

        root  the folder that paths start from
        """
        return {**self.named, "root": str(root.resolve())}

    def doubts(self, kernel: str, point: Point, seed: int) -> list[str]:
        """A sentence for each plain mistake that the check of a kernel's results at a point would not find.

        Raises UserError where a function of the file is wrong.
        """
        self.work(point)
        return doubts(self.instance(kernel, point, seed))

    def work(self, point: Point) -> dict[str, Any]:
        """The counts of one run by unit; empty where the file has no function `work`. Raises UserError."""
        if "work" not in self.functions:
            return {}
        where = self.module.shown
        work = self.functions["work"].call({axis: _plain(point[axis]) for axis in self.work_axes}, {})
        if not isinstance(work, Mapping):
            raise UserError(
                f"{where}: work returns {shown_value(work)}. It has to return counts, such as {{'bytes': n}}."
            )
        counts = {unit: _plain(count) for unit, count in work.items()}
        for unit, count in counts.items():
            if unit == "arithmetic":
                check_known(count, ARITHMETIC, f"{where}: work: arithmetic is")
            elif not isinstance(unit, str) or not isinstance(count, int | float) or not 0 <= count < 2**64:
                raise UserError(
                    f"{where}: work: {unit} is {shown_value(count)}. Allowed: names with numbers from 0 to 2^64."
                )
        return counts

    @cached_property
    def work_axes(self) -> tuple[str, ...]:
        """The axes that the work depends on."""
        return self._named_axes(["work"])

    @cached_property
    def launch_axes(self) -> tuple[str, ...]:
        """The axes that the function `launches` names."""
        return self._named_axes(["launches"])

    def launches(self, kernel: str, point: Point) -> tuple[UserLaunch, ...]:
        """The launches of one run of a kernel, from the function `launches`. Raises UserError where it is wrong."""
        function = self.functions["launches"]
        axes = {axis: _plain(point[axis]) for axis in self.launch_axes}
        given = {"kernel": self.named.get("kernel", kernel), "Launch": UserLaunch}
        return read_launches(function.call(axes, given), function.shown)

    def _named_axes(self, functions: Collection[str]) -> tuple[str, ...]:
        """The axes that some of these functions name, in the study's order."""
        named = {name for one in functions if one in self.functions for name in self.functions[one].parameters}
        named |= {DRAWN} if "inputs" in functions else set()
        return tuple(axis for axis in self.named["axes"] if axis in named)


def _plain(value: Any) -> Any:
    """An axis' value as one of Python's own, so that equal values give equal data."""
    return value.item() if isinstance(value, np.generic) else value


def problem_of(named: Named, root: Path | None = None) -> Problem:
    """The problem that settings or a task name.

    root  the folder that the file's path starts from, in place of the one that is named

    Raises UserError where the file can't be loaded, lacks a function, or has one that names what it can't get.
    """
    file, root = str(named["file"]), root or Path(named.get("root", ""))
    module = load(root / file, file, [root / name for name in named["data"]])
    folder = root / _REFERENCES / file.replace("/", "-").removesuffix(".py")
    return Problem(named, module, read_functions(module, named["axes"], named.get("judged", True)), folder)
