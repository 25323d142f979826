"""Problems in Python files: their data, their references, their judgement of results, and what is said of a mistake."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from checkout import ROOT

from kernelsweep.base.running import in_child
from kernelsweep.errors import UserError
from kernelsweep.study.problem import comparison, file_instance
from kernelsweep.study.problem.array_values import read_dtype
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem_file import Problem, doubts, problem_of

MATMUL = (ROOT / "benchmarks/own_kernels/kernels/matmul/problem.py").read_text(encoding="utf-8")

HISTOGRAM = """
import numpy as np


def inputs(random, n):
    return {"data": random.integers(0, 256, n, np.uint8), "scale": np.float32(0.5), "count": n}


def outputs():
    return {"counts": (256, np.uint32, 0)}


def reference(data):
    return {"counts": np.bincount(data, minlength=256)}
"""

# An array updated in place, judged by a sentence of the user's.
SORT = """
import numpy as np


def inputs(random, n):
    return {"keys": random.permutation(n).astype(np.int32)}


def outputs(n):
    return {"keys": (n, np.int32)}


def mistake(inputs, keys):
    if (np.sort(inputs["keys"]) != keys).any():
        return f"{(np.sort(inputs['keys']) != keys).sum()} keys are at a wrong place"
"""

POINT = {"n": 48, "width": 19, "height": 7, "radius": 2, "block_size": 32}


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Problem]:
    def read(text: str, axes: Any = tuple(POINT)) -> Problem:
        path = tmp_path / "kernels/own/problem.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return in_file(tmp_path, "kernels/own/problem.py", axes)

    return read


def in_file(root: Path, file: str, axes: Any = ()) -> Problem:
    return problem_of({"file": file, "axes": dict.fromkeys(axes, False), "data": []}, root)


def instance_of(problem: Problem, point: Any, seed: int = 1, kept: Path | None = None) -> FileInstance:
    """The instance of a kernel, whose references are kept in a folder, or nowhere."""
    return replace(problem, references=kept or Path(tempfile.mkdtemp())).instance("a kernel", point, seed)


def judged(instance: FileInstance, **results: np.ndarray) -> str | None:
    return instance.judge({name: array.reshape(-1) for name, array in results.items()}, 1).mistake


def test_a_matrix_product_is_judged_within_its_bound(
    read: Callable[..., Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "AT_ONCE", 50)
    problem = read(MATMUL)
    assert problem.instance_axes == ("n",)
    assert problem.work(POINT) == {"flops": 2 * 48**3, "bytes": 12 * 48**2}
    instance = instance_of(problem, POINT, seed=1)
    arrays = instance.arrays()
    assert {name: (array.dtype.name, array.size, array.is_result) for name, array in arrays.items()} == {
        "A": ("float32", 48 * 48, False),
        "B": ("float32", 48 * 48, False),
        "C": ("float32", 48 * 48, True),
    }
    A, B = (np.asarray(arrays[name].contents).reshape(48, 48) for name in "AB")
    right = A @ B
    assert judged(instance, C=right) is None
    exact, bound = A.astype(float) @ B, instance.bounds()["C"].elements.reshape(48, 48)
    for found in (right, (exact + 0.75 * bound * (np.arange(48) == 40)).astype(np.float32), exact.astype(np.float32)):
        share = (abs(found - exact) / bound).max()
        assert instance.judge({"C": found.reshape(-1)}, 1).error_share == share <= 0.76
    on_device = instance.right_values()["C"]
    assert (on_device.values == exact.reshape(-1)).all() and (on_device.bound == bound.reshape(-1)).all()
    wrong = right.copy()
    wrong[1, 5] += 0.01
    wrong[47, 47] = np.nan
    assert instance.judge({"C": wrong.reshape(-1)}, 1).error_share == np.inf
    told = judged(instance, C=wrong)
    assert told is not None
    assert told.startswith(
        f"C: 2 of 2,304 elements are wrong; the first is C[1, 5]: expected {(A.astype(float) @ B)[1, 5]:.9g}"
    )
    assert told.endswith(f", found {wrong[1, 5]:.9g}") and " (may differ by " in told
    lost_tile = A[:, :-1] @ B[:-1]
    assert judged(instance, C=lost_tile) is not None


def test_a_histogram_starts_from_its_initial_value_and_is_exact(read: Callable[..., Problem]) -> None:
    instance = instance_of(read(HISTOGRAM), POINT, 1)
    counts = instance.arrays()["counts"]
    assert counts.contents is not None and counts.contents.tolist() == [0]
    assert (counts.dtype.name, counts.size, counts.updated) == ("uint32", 256, True)
    scalars = instance.scalars()
    assert (type(scalars["scale"]), type(scalars["count"])) == (np.float32, int)
    right = instance.expected["counts"].as_given.astype(np.uint32)
    assert judged(instance, counts=right) is None
    place = int(np.argmax(right))
    right[place] -= 1
    assert f"1 of 256 elements are wrong; the first is counts[{place}]: expected {right[place] + 1}" in str(
        judged(instance, counts=right)
    )


def test_an_array_updated_in_place_is_judged_against_what_it_was(read: Callable[..., Problem]) -> None:
    problem = read(SORT)
    instance = instance_of(problem, POINT, 1)
    keys = instance.arrays()["keys"]
    assert keys.updated and keys.is_result and keys.contents is not None
    assert judged(instance, keys=np.arange(48, dtype=np.int32)) is None
    assert judged(instance, keys=keys.contents) is not None
    assert judged(instance, keys=np.arange(48, dtype=np.int32)[::-1]) == "48 keys are at a wrong place"
    idle = SORT.replace("random.permutation(n)", "np.arange(n)")
    assert doubts(instance_of(read(idle), POINT, 1)) == [
        "kernels/own/problem.py, at n=48: keys as before the run would pass. "
        "The inputs or the check can't show this mistake there."
    ]


def test_a_dear_reference_is_kept_until_its_code_or_data_change(
    read: Callable[..., Problem], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_instance, "_DEAR_SECONDS", 0.0)
    kept, calls = tmp_path / "kept", tmp_path / "calls"
    text = MATMUL.replace(
        '    return {"C": A.ast', f'    open({str(calls)!r}, "a").write("x")\n    return {{"C": A.ast'
    )

    def computed(text: str, seed: int = 1, **point: int) -> int:
        """How often the reference is computed to judge a right result."""
        calls.write_text("")
        instance = instance_of(read(text), {**POINT, **point}, seed, kept)
        arrays = instance.arrays()
        A, B = (np.asarray(arrays[name].contents).reshape(instance.outputs["C"].shape) for name in "AB")
        assert judged(instance, C=A @ B) is None
        return len(calls.read_text())

    def files(suffix: str) -> list[Path]:
        return sorted(kept.rglob(f"*{suffix}"))

    assert computed(text) == 1
    assert (len(files(".json")), len(files(".npy"))) == (2, 2)  # the reference and its bound
    assert computed("# a comment\n" + text, block_size=64) == 0
    assert [computed(text, seed=2), computed(text, n=47)] == [1, 1]
    assert not list(kept.rglob("*.part"))
    # What was cut is not trusted.
    for file in files(".npy"):
        os.truncate(file, file.stat().st_size - 8)
    assert [computed(text), computed(text)] == [1, 0]
    for file in files(".json"):
        file.write_text('{"key": [], "shapes": [3]}')
    assert [computed(text), computed(text)] == [1, 0]
    # Inputs from somewhere else than `random` are other inputs.
    unseeded = text.replace("random.standard_normal", "np.random.default_rng().standard_normal")
    assert [computed(unseeded), computed(unseeded)] == [1, 1]
    assert computed(text.replace("astype(np.float64)", "astype(float)")) == 1
    assert len({file.parents[1] for file in files(".npy")}) == 1, "references of older code are deleted"


def test_a_reduction_is_compared_by_its_result_and_2_to_the_32_elements_cost_one_tile(
    read: Callable[..., Problem],
) -> None:
    text = """
import numpy as np

def inputs(random, n):
    return {"data": (n, random.integers(-9, 9, 97))}

def outputs(n, block_size):
    return {"partials": (n // block_size, np.int64)}

def result(partials):
    return {"sum": partials.sum()}

def reference(data, n):
    return {"sum": n // 97 * data.sum() + data[:n % 97].sum()}
"""
    problem = read(text)
    instance = instance_of(problem, {"n": 2**32, "block_size": 2**20}, 1)
    data = instance.arrays()["data"]
    assert data.size == 2**32 and data.contents is not None and data.contents.shape == (97,)
    partials = np.zeros(4096, np.int64)
    partials[7] = instance.expected["sum"].as_given
    assert judged(instance, partials=partials) is None
    partials[8] += 1
    assert judged(instance, partials=partials) == f"sum: expected {partials[7]}, found {partials[7] + 1}"


def test_a_kernel_that_finds_too_few_is_wrong_and_its_problem_is_not(read: Callable[..., Problem]) -> None:
    text = """
import numpy as np

def inputs(random):
    return {"x": np.arange(9, dtype=np.int32)}

def outputs():
    return {"places": (9, np.int32, -1)}

def result(places):
    return {"found": np.sort(places[places >= 0])}

def reference(x):
    return {"found": x[x % 2 == 1]}
"""
    instance = instance_of(read(text), {}, 1)
    places = np.full(9, -1, np.int32)
    assert judged(instance, places=places) == "found: expected 4 elements, found 0"
    places[[7, 0, 3, 4]] = [1, 3, 5, 7]
    assert judged(instance, places=places) is None


TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"


@pytest.mark.parametrize("dtype", [*TYPES.split(), "bfloat16", "float8_e4m3fn"])
def test_every_type_is_compared_exactly(read: Callable[..., Problem], dtype: str) -> None:
    small = dtype.startswith(("bfloat", "float8"))
    module = pytest.importorskip("ml_dtypes") if small else np
    text = f'''
import {module.__name__} as types

def inputs(random):
    return {{"A": random.integers(0, 100, 65).astype(types.{dtype})}}

def outputs():
    return {{"B": ((13, 5), "{dtype}")}}

def reference(A):
    return {{"B": A.reshape(13, 5)}}
'''
    instance = instance_of(read(text), POINT, 1)
    right = instance.arrays()["A"].contents
    assert right is not None and right.dtype == read_dtype(dtype, "")
    assert judged(instance, B=right) is None
    for place, byte in ((3, 1), (64, 0xAB)):
        wrong = right.copy()
        wrong.view(np.uint8)[place * right.itemsize] ^= byte
        assert "B: 1 of 65" in str(judged(instance, B=wrong))
    assert judged(instance, B=np.full(65, 0xAB, np.uint8).repeat(right.itemsize).view(right.dtype)) is not None


def test_integers_beyond_a_floats_digits_are_compared_exactly(read: Callable[..., Problem]) -> None:
    text = """
import numpy as np

def outputs():
    return {"big": (2, np.uint64), "near": (2, np.int64)}

def reference():
    return {"big": np.array([2**63 + 1, 5]), "near": np.array([2**62 + 1, 5])}

def error_bound():
    return {"near": 2}
"""
    instance = instance_of(read(text.replace("5]),", "5], np.uint64),")), POINT, 1)
    big, near = np.array([2**63 + 1, 5], np.uint64), np.array([2**62 + 3, 5])
    assert judged(instance, big=big, near=near) is None
    assert judged(instance, big=big - np.uint64(1), near=near) is not None
    assert "may differ by 2" in str(judged(instance, big=big, near=near + 1))


def test_without_a_bound_a_float_equals_the_rounded_reference(read: Callable[..., Problem]) -> None:
    instance = instance_of(read(ADD.replace("a + b", "a.astype(np.float64) + b")), POINT, 1)
    a, b = (np.asarray(instance.arrays()[name].contents) for name in "ab")
    assert (a.astype(np.float64) + b != a + b).any()
    assert judged(instance, c=a + b) is None
    assert judged(instance, c=np.nextafter(a + b, np.float32(9))) is not None


def test_files_of_one_name_beside_problems_do_not_clash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = ModuleType("helpers")
    monkeypatch.setitem(sys.modules, "helpers", elsewhere)
    text = "import helpers\ndef outputs(): return {'C': (helpers.sides(), 'int8')}\ndef mistake(C): pass\n"
    helpers = "import later\ndef sides():\n    import later as again\n    return again.SIZE if again is later else 1\n"
    for folder, size in (("one", 3), ("two", 5)):
        (tmp_path / folder / "later").mkdir(parents=True)
        (tmp_path / folder / "problem.py").write_text(text)
        (tmp_path / folder / "helpers.py").write_text(helpers)
        (tmp_path / folder / "later/__init__.py").write_text("from .sizes import SIZE\n")
        (tmp_path / folder / "later/sizes.py").write_text(f"SIZE = {size}\n")
    before = {*sys.modules}, [*sys.path]

    def size(folder: str) -> int:
        problem = in_file(tmp_path / folder, "problem.py")
        assert [file.name for file in problem.files] == ["problem.py", "helpers.py", "__init__.py", "sizes.py"]
        return instance_of(problem, {}, 1).arrays()["C"].size

    assert [size("one"), size("two"), size("one")] == [3, 5, 3]
    (tmp_path / "one/later/sizes.py").write_text("SIZE = 8\n")
    assert size("one") == 8
    assert sys.path == before[1]
    assert not {"later", "problem"} & {*sys.modules} - before[0] and sys.modules["helpers"] is elsewhere
    assert not list(tmp_path.rglob("__pycache__"))


ADD = """
import numpy as np

def inputs(random, n):
    return {"a": random.random(n, np.float32), "b": random.random(n, np.float32)}

def outputs(n):
    return {"c": (n, np.float32)}

def reference(a, b):
    return {"c": a + b}
"""


@pytest.mark.parametrize(("old", "new", "told"), [
    ("def outputs", "def output", "output is no function of a problem; did you mean 'outputs'?"),
    ("def outputs", "def wrok(n): pass\n\ndef outputs", "wrok is no function of a problem; did you mean 'work'?"),
    ("outputs(n)", "outputs(hight)", "outputs takes 'hight', but nothing has this name; did you mean 'height'?"),
    (": (n, np.float32)", ": (n // 0, np.float32)", "line 8: outputs raises ZeroDivisionError at n=48: "),
    ('{"c": a', '{"d": a', "reference returns d. outputs returns c."),
    ("a + b", "(a + b)[1:]", "reference gives c the shape (47,). outputs gives it (48,)."),
    (": (n, np.float32)", ": (n, float)", "outputs: c has the type float, which is wider in NumPy than in CUDA."),
    ('{"c": (n', '{"a": (n + 1', "outputs gives a the shape (49,) and the type float32. It is an input, too"),
    ("random.random(n, np.float32)}", "1 << 70}", "inputs: b is 1180591620717411303424, which has more than 64 bits."),
    ("a + b}", "a + b}\ndef work(n): return {1: n}", "work: 1 is 48. Allowed: names with numbers"),
    ("a + b}", "a + b}\ndef work(n): return {'arithmetic': 'tf31'}", "arithmetic is 'tf31'; did you mean 'tf32'? All"),
])  # fmt: skip
def test_a_mistake_in_a_problem_file_is_one_sentence(
    read: Callable[..., Problem], old: str, new: str, told: str
) -> None:
    assert old in ADD
    _use(read(ADD))
    with pytest.raises(UserError) as error:
        _use(read(ADD.replace(old, new, 1)))
    assert told in str(error.value)
    assert str(error.value).startswith("kernels/own/problem.py") and str(error.value).count("\n") < 3


def _use(problem: Problem) -> None:
    problem.work(POINT)
    if "launches" in problem.functions:
        problem.launches("add", POINT)
    instance = instance_of(problem, POINT, 1)
    judged(instance, **{name: np.zeros(array.size, array.dtype) for name, array in instance.outputs.items()})


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("os.kill(os.getpid(), 9)", ": reference at n=48 was killed (signal 9), as Linux does where memory runs out."),
        ("os._exit(0)", ": reference at n=48 was ended with exit status 0."),
        (
            "raise type('\\x1b[2J', (Exception,), {'__str__': lambda e: 1 / 0})()",
            ": reference raises \\x1b[2J at n=48.",
        ),
        ("while True: pass", ": reference at n=48 has run for 0.2 s (measuring.timeout_seconds), and was stopped."),
    ],
)
def test_a_function_that_dies_or_does_not_end_is_one_sentence(
    read: Callable[..., Problem], code: str, told: str
) -> None:
    problem = read(ADD.replace('    return {"c": a', f'    import os\n    {code}\n    return {{"c": a'))
    with pytest.raises(UserError) as error:
        in_child(lambda: problem.doubts("k", {"n": 48}, 1), "kernels/own/problem.py", 0.2)
    assert str(error.value) in (f"kernels/own/problem.py{told}", f"kernels/own/problem.py, line 12{told}")


def test_what_only_describes_data_has_to_end_soon(
    read: Callable[..., Problem], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelsweep.base.running._MOST_SECONDS", 0.1)
    problem = read(ADD + "\ndef work(n):\n    while True: pass\n")
    with pytest.raises(UserError, match=r"^kernels/own/problem.py, line 14: work at n=48 still runs after 0 s\.$"):
        problem.work(POINT)
    with pytest.raises(UserError, match=r"^kernels/own/problem.py, line 13: the file still runs after 0 s\.$"):
        read(ADD + "\nwhile True: pass\n")
    with pytest.raises(UserError, match=r"^kernels/own/problem.py, line 13: the file raises SystemExit: 0$"):
        read(ADD + "\nimport os; os._exit(0)  # without a word\n")


def test_memory_that_runs_out_is_told_with_the_line(read: Callable[..., Problem]) -> None:
    problem = read(ADD.replace("a + b", "np.zeros(2**50)"))
    with pytest.raises(MemoryError, match=r"line 11: reference raises .*MemoryError at n=48: Unable to allocate"):
        in_child(lambda: problem.doubts("k", {"n": 48}, 1), problem.name)


def test_doubts_name_the_mistakes_that_a_check_would_not_find(read: Callable[..., Problem]) -> None:
    softmax = ADD.replace("a + b", "np.exp(a) / np.exp(a).sum()")
    absolute = f"{softmax}\ndef error_bound(): return {{'c': 0.1}}\n"
    assert doubts(instance_of(read(ADD), POINT, 1)) == []
    told = doubts(instance_of(read(absolute), POINT, 1))
    start, end = "kernels/own/problem.py, at n=48: ", "he inputs or the check can't show this mistake there."
    assert all(text.endswith(end) for text in told)
    assert [text.removeprefix(start).partition(" would pass. ")[0] for text in told] == [
        "zeros in c",
        "the mean in all of c",
        "two swapped elements of c",
        "c rounded to bfloat16",
    ]
