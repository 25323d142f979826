"""What a kernel's arrays hold: how large each is, and whether it is read before it is written. Two runs tell.

They are at sizes that blocks divide, with arrays that are larger than any access.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from kernelsweep.device.outcome import Outcome
from kernelsweep.project.check_points import round_points, value_at
from kernelsweep.project.guess import Guess, Parameter
from kernelsweep.reasons import Reason
from kernelsweep.results import INDIFFERENT_READ
from kernelsweep.study.point import Point

# The elements of an array whose size is to be learnt, or is not known; and a side of a grid of too many blocks.
_MOST, _FEW_BLOCKS = 2**20, 4
_LEAST_SHARE = 0.85  # of a size, which is touched: kernels leave out borders
_ONE_MORE = " + 1"
Run = Callable[[Guess, Sequence[Mapping[str, int]], Mapping[str, "Holds"]], Mapping[Point, Outcome]]


@dataclass(frozen=True)
class Holds:
    """What an array holds.

    size     its elements, as an expression over the axes
    updated  whether the kernel reads it before it writes it, or may do so where it begins with zeros
    known    whether the size is that of what the kernel accesses; else it is larger than all that it accesses
    larger   what the kernel accesses, where that is one element more than the size; else ""
    zeros    whether it begins with zeros, as a lock or a counter does, in place of random numbers
    given    whether the user says the size
    """

    size: str = str(_MOST)
    updated: bool = True
    known: bool = False
    larger: str = ""
    zeros: bool = False
    given: bool = False

    def without_one_more(self, is_of_indices: bool) -> Holds:
        """The same of n elements in place of n + 1, of which a loop that runs once too often accesses the last.

        is_of_indices  whether it is of integers: of n rows, n + 1 say where each begins and where the last ends
        """
        less = self.size.removesuffix(_ONE_MORE)
        if not self.known or less == self.size or (is_of_indices and less.isidentifier()):
            return self
        return replace(self, size=less, larger=self.size)


def learn(guessed: Guess, run: Run) -> tuple[Guess, dict[str, Holds]]:
    """The guess, slow where it is, and what each array holds. Raises UserError.

    Two runs at round sizes tell, with arrays that are large enough. A launch that fails keeps all of its blocks.
    """
    points = round_points(guessed)
    largest = max(prod(point[axis] for axis in guessed.sizes) for point in points)
    for elements in sorted({min(64 * largest, _MOST), _MOST}):  # The time to run is that of arrays.
        holds, touched, last = _runs(guessed, run, points, elements)
        if last.status in ("timed_out", "out_of_memory") and not guessed.is_slow:
            return learn(_with_few_blocks(replace(guessed, is_slow=True, small=[*guessed.small, *guessed.counts])), run)
        if "out_of_bounds" not in {mistake.kind for mistake in last.mistakes} and touched:
            break
    if len(touched) < 2:
        return guessed, holds
    rows = {one.name: one.row for one in guessed.arrays}
    return guessed, {
        name: _sized(guessed, one, [-(-of.get(name, 0) // rows[name]) for of in touched], points, rows[name] == 1)
        for name, one in holds.items()
    }


def _with_few_blocks(guessed: Guess) -> Guess:
    """The guess with at most a few blocks on each side whose number the file has, unless the user gives the grid."""
    is_given = guessed.launched == "given"
    grid = [side if is_given or not side.isdigit() else str(min(int(side), _FEW_BLOCKS)) for side in guessed.grid]
    return replace(guessed, grid=grid, has_few_blocks=grid != [*guessed.grid])


def _runs(
    guessed: Guess, run: Run, points: Sequence[Mapping[str, int]], elements: int, are_locks: bool = False
) -> tuple[dict[str, Holds], list[Mapping[str, int]], Outcome]:
    """What arrays of so many elements hold, what was touched of them, and the last outcome.

    are_locks  whether integers that the kernel may write begin with zeros, because it waits for them otherwise
    """
    first, last = points
    locks = {one.name for one in guessed.arrays if one.written and "int" in one.dtype and not one.zeroed}
    zeros = {one.name: one.zeroed or (are_locks and one.name in locks) for one in guessed.arrays}
    holds = {name: Holds(str(elements), zeros=begins) for name, begins in zeros.items()}
    # The second run finds what nothing has written; where that is an index, it fails.
    unwritten = {
        one.name: replace(holds[one.name], updated=not one.written or zeros[one.name]) for one in guessed.arrays
    }
    touched: list[Mapping[str, int]] = []
    for place, given in ((first, holds), (last, unwritten), (last, holds)):
        if len(touched) == 2:
            break
        (outcome,) = run(guessed, [place], given).values()
        kinds = {mistake.kind for mistake in outcome.mistakes}
        # A race hides reads at its lines of what is not written.
        kinds_of_read = ("uninitialised", INDIFFERENT_READ, "race")
        read = {mistake.array for mistake in outcome.mistakes if mistake.kind in kinds_of_read}
        if outcome.status in ("ok", "wrong_result"):
            touched.append(outcome.touched)
            # What is not touched there may be read elsewhere.
            may_be = {name for name in holds if given[name].updated or name in read or not outcome.touched.get(name)}
            holds = {name: replace(one, updated=name in may_be) for name, one in holds.items()}
        is_waiting = outcome.reason == Reason.BARRIER or outcome.status == "timed_out"
        if is_waiting and not touched and not are_locks and locks:
            return _runs(guessed, run, points, elements, are_locks=True)
        if "out_of_bounds" in kinds or not touched:
            break
    return holds, touched, outcome


def _sized(
    guessed: Guess, holds: Holds, touched: Sequence[int], places: Sequence[Mapping[str, int]], is_of_numbers: bool
) -> Holds:
    """The smallest size over the axes that is what was touched, or a little more.

    is_of_numbers  whether elements are no vectors, of which a part is touched where the kernel takes them for numbers
    """
    if not all(touched):
        return holds
    near = []

    def values_of(text: str) -> list[int]:
        return [value_at(text, place) for place in places]

    def multiple(product: str) -> int:
        values = values_of(product)
        factor = touched[0] // values[0] if values[0] > 0 and touched[0] != touched[-1] else 0
        return factor if [factor * value for value in values] == [*touched] else 0

    for is_simple, text in _sizes(guessed, multiple):
        values = values_of(text)
        if values == [*touched] and (is_simple or guessed.launched):
            return replace(holds, size=text, known=True)
        if is_simple and all(_LEAST_SHARE * value <= of <= value for value, of in zip(values, touched, strict=True)):
            near.append((sum(values), text))
    if len({*touched}) == 1 and (is_of_numbers or touched[0] > 1):
        return replace(holds, size=str(touched[0]), known=True)
    return replace(holds, size=min(near)[1], known=True) if near else holds


def _sizes(guessed: Guess, multiple: Callable[[str], int]) -> Iterator[tuple[bool, str]]:
    """Expressions that sizes of arrays may have, simple ones first; each with whether it is of one or two sizes.

    multiple  how many times a product is what was touched; 0 where no number of times is
    """
    axes = guessed.sizes
    simple = [*axes, *(f"{name} * {name}" for name in axes), *map(" * ".join, itertools.combinations(axes, 2))]
    yield from ((True, text) for text in simple)
    sides = [f"ceil({side})" if re.search("(?<!/)/(?!/)", side) else f"({side})" for side in guessed.grid]
    blocks = ast.unparse(ast.parse(" * ".join(sides), mode="eval"))
    others = [*map(" * ".join, itertools.combinations(axes, 3)), blocks, *(f"{name} * ({blocks})" for name in axes)]
    products = [*simple, *others]
    yield from ((False, text) for text in others)
    yield from ((False, " * ".join(of)) for number in (4, 5) for of in itertools.combinations(axes, number))
    yield from ((False, product + more) for product in products for more in (_ONE_MORE, " + 2"))
    if len(axes) > 1:  # Where random integers are indices.
        yield from ((False, f"min({', '.join(axes)}) * {name}") for name in axes)
    # A number of blocks is a quotient.
    terms = {product: f"({product})" if "/" in product else product for product in products}
    times = [(factor, term) for product, term in terms.items() if (factor := multiple(product)) > 1]
    times.sort(key=lambda one: str(one[0]) not in guessed.template.values())
    yield from ((False, f"{factor} * {term}") for factor, term in times)


def problem_text(guessed: Guess, holds: Mapping[str, Holds], head: str = "") -> str:
    """The functions `inputs` and `outputs` of a problem file, for what the arrays hold."""
    high = f"min({', '.join(guessed.sizes)})" if len(guessed.sizes) > 1 else (*guessed.sizes, "100")[0]
    inputs = {
        one.name: _drawn(one, holds[one.name], high)
        for one in guessed.arrays
        if not one.written or holds[one.name].updated
    }
    inputs |= {
        one.name: _scalar(one) if one.dtype else "None"
        for one in guessed.parameters
        if not one.is_array and not one.is_size and one.dtype != "bfloat16"
    }
    outputs = {
        one.name: f"({_shape(one, holds[one.name].size)}, {_dtype(one)})" for one in guessed.arrays if one.written
    }
    text = f"{head or '# Written by `kernelsweep check`.'}\nimport numpy as np\n"
    text += "from math import ceil\n" * ("ceil(" in str(holds))
    text += "import ml_dtypes  # the extra bfloat16\n" * ("bfloat16" in "".join(inputs.values()))
    for function, arrays, given in (("inputs", inputs, ["random"]), ("outputs", outputs, [])):
        named = re.findall(r"[A-Za-z_]\w*", " ".join(arrays.values()))
        parameters = ", ".join([*given, *(axis for axis in guessed.axes if axis in named)])
        lines = "".join(f'        "{name}": {value},\n' for name, value in arrays.items())
        text += f"\n\ndef {function}({parameters}):\n    return {{\n{lines}    }}\n" if arrays else ""
    return text


def _dtype(one: Parameter) -> str:
    """NumPy's type as a problem file has it; float32 in place of one that is not known."""
    return '"bfloat16"' if one.dtype == "bfloat16" else f"np.{one.dtype or 'float32'}"


def _scalar(one: Parameter) -> str:
    vector = f'np.array(({", ".join([one.value] * one.row)}), "{", ".join([one.dtype] * one.row)}")'
    return f"np.{one.dtype}({one.value})" if one.row == 1 else vector


def _shape(one: Parameter, size: str) -> str:
    return size if one.row == 1 else f"({size}, {one.row})"


def _drawn(one: Parameter, holds: Holds, high: str) -> str:
    shape = _shape(one, holds.size)
    if holds.zeros:
        return f"np.zeros({shape}, {_dtype(one)})"
    if one.dtype in ("float32", "float64", ""):
        return f"random.standard_normal({shape}, {_dtype(one)})"
    if one.dtype in ("float16", "bfloat16"):
        return f"random.standard_normal({shape}).astype({'np' if one.dtype == 'float16' else 'ml_dtypes'}.{one.dtype})"
    if one.dtype == "bool":
        return f"random.integers(0, 2, {shape}).astype(bool)"
    if one.dtype == "uint8":  # Each index that a byte may be, so that what it indexes has its size.
        return f"random.permuted(np.resize(np.arange(min(256, {high})), {shape})).astype(np.uint8)"
    high = f"min(128, {high})" if one.dtype == "int8" else high
    return f"random.integers(0, {high}, {shape}).astype(np.{one.dtype})"
