"""Error bounds: right kernels keep them in any order of additions, and one in the next lower precision does not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from checkout import ROOT

from kernelsweep import bounds
from kernelsweep.base.code_hash import imported_user_files
from kernelsweep.study.problem.problem_file import problem_of

RANDOM = np.random.default_rng(5)
X, Y = (RANDOM.standard_normal((20, 96)).astype(np.float16) for _ in "xy")


def added(values: Any) -> Any:
    """Sums along the last axis, one number after another, each rounded to the values' type."""
    total = np.zeros_like(values[..., 0])
    for k in range(values.shape[-1]):
        total = total + values[..., k]
    return total


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / added(powers)[..., None]


def normalised(x: Any) -> Any:
    centred = x - (added(x) / x.dtype.type(x.shape[-1]))[..., None]
    variance = added(centred * centred) / x.dtype.type(x.shape[-1])
    return centred * (1 / np.sqrt(variance + x.dtype.type(2**-10)))[..., None]


def formula(x: Any, of: Any) -> Any:
    square = x * x
    return of.sqrt(1 / (square + 1)) - of.exp(x * 0.5) * of.log(square + 2) * of.tanh(x)


CASES: dict[str, tuple[Any, Any]] = {
    "total": (added, lambda t: bounds.total(X, t, axis=-1)),
    "dot": (lambda x: added(x * Y.astype(x.dtype)), lambda t: bounds.dot(X, Y, t)),
    "matmul": (
        lambda x: added(x[:, None, :] * Y.astype(x.dtype)[None]),
        lambda t: bounds.matmul(X, Y.T, t),
    ),
    "norm": (lambda x: np.sqrt(added(x * x)), lambda t: bounds.norm(X, t)),
    "softmax": (softmax, lambda t: bounds.softmax(X, t)),
    "layer_norm": (normalised, lambda t: bounds.layer_norm(X, epsilon=2**-10, dtype=t)),
    "formula": (lambda x: formula(x, np), lambda t: formula(bounds.exact(X, t), bounds.Computed).error),
    "rounded": (lambda x: x / x.dtype.type(3), lambda t: bounds.rounded(X.astype(float) / 3, t)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_kernel_keeps_the_bound_of_its_precision_and_one_in_half_of_it_does_not(name: str) -> None:
    compute, bound = CASES[name]
    exact = compute(X.astype(np.longdouble))
    for dtype, lower in [("float32", np.float16), ("float64", np.float32)]:
        assert (abs(compute(X.astype(dtype)) - exact) <= bound(dtype)).all()
        assert (abs(compute(X.astype(lower)) - exact) > bound(dtype)).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", np.float32, np.dtype("f8")])
def test_the_unit_roundoff_is_half_of_the_distance_from_one_to_the_next_number(dtype: Any) -> None:
    info = ml_dtypes.finfo(getattr(ml_dtypes, dtype) if hasattr(ml_dtypes, str(dtype)) else dtype)
    assert bounds.unit(dtype) == float(info.eps) / 2
    assert bounds.underflow(dtype) == float(info.smallest_subnormal) / 2


def test_roundings_that_may_lose_every_digit_bound_no_product_but_a_sum() -> None:
    with pytest.raises(ValueError, match=r"2,048 roundings of float16 may lose every digit"):
        bounds.gamma(2048, "float16")
    assert bounds.additions(2049, "float16", chain=2048) == 1


def test_masked_elements_of_a_softmax_have_to_be_zero() -> None:
    x = np.where(RANDOM.random((4, 9)) < 0.3, -np.inf, np.float32(1))
    bound = bounds.softmax(x, "float32")
    assert (bound[x == -np.inf] < 1e-37).all()
    assert (bound[x == 1] > 1e-8).all()
    assert (abs(softmax(x.astype(np.float32)) - softmax(x)) <= bound).all()


def test_the_error_function_has_seven_digits_where_it_is_small_too() -> None:
    x = np.linspace(-6, 9, 301)
    right = np.array([math.erfc(one) for one in x])
    np.testing.assert_allclose(bounds.exact(x).erfc().value, right, rtol=1.2e-7)


def test_an_edit_of_the_bounds_counts_as_one_of_the_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "problem.py").write_text("from helpers import unit\n", encoding="utf-8")
    (tmp_path / "helpers.py").write_text("from kernelsweep.bounds import unit\n", encoding="utf-8")
    names = [path.name for path in imported_user_files(tmp_path / "problem.py")]
    assert sorted(names) == ["bounds.py", "helpers.py", "tensors.py"]
    # Packages of another environment on the path are no modules of the user's, as under `uv run --with`.
    monkeypatch.syspath_prepend(str(tmp_path / "other/site-packages"))
    (tmp_path / "other/site-packages").mkdir(parents=True)
    (tmp_path / "other/site-packages/huge.py").touch()
    (tmp_path / "problem.py").write_text("import huge\n", encoding="utf-8")
    assert imported_user_files(tmp_path / "problem.py") == []
    problem = problem_of({"file": "examples/new-study/problem.py", "axes": {"n": False}, "data": []}, ROOT)
    assert Path(bounds.__file__) in problem.files


def test_numbers_of_few_bits_show_a_dropped_product_that_the_bound_allows() -> None:
    axes = {"n": 512}
    for drawn in ("as_given", "few_bits"):
        names = {"n": False, "drawn": True}
        problem = problem_of({"file": f"{OWN}/matmul/problem.py", "axes": names, "data": []}, ROOT)
        instance = problem.instance("a kernel", {**axes, "drawn": drawn}, 1)
        A, B = (instance.inputs.as_given[name] for name in "AB")
        right = added((A[:20, None, ::-1] * B.T[None, :20, ::-1]).copy())  # in another order than the reference
        expected = instance.expected["C"].elements.reshape(512, 512)
        found = expected.astype(np.float32)
        found[:20, :20] = right
        assert instance.judge({"C": found.reshape(-1)}, 0).mistake is None
        dropped = np.abs(A[:, None, 7] * B[None, 7]) * (found != 0)
        at = np.unravel_index(np.argmin(np.where(dropped > 0, dropped, 9)), dropped.shape)
        found[at] -= A[at[0], 7] * B[7, at[1]]
        assert (instance.judge({"C": found.reshape(-1)}, 0).mistake is None) == (drawn == "as_given")


def test_the_problem_beside_those_of_other_tools_finds_plain_mistakes(tmp_path: Path) -> None:
    text = (ROOT / "docs/coming-from.md").read_text(encoding="utf-8").partition("## kernelsweep")[2]
    (tmp_path / "problem.py").write_text(text.partition("```python\n")[2].partition("```")[0], encoding="utf-8")
    problem = problem_of({"file": "problem.py", "axes": {"n": False}, "data": []}, tmp_path)
    assert problem.doubts("axpy", {"n": 500}, 1) == []


OWN, EXAMPLES = "benchmarks/own_kernels/kernels", "examples/own-repository/kernels"
SUM = {"array_size": 3000, "operation": "sum", "block_size": 32, "unroll": 1}
SHIPPED: list[tuple[str, dict[str, Any], str]] = [
    ("kernels/matmul", {"m": 9, "n": 10, "k": 50, "precision": "float32"}, "float16"),
    ("kernels/matmul", {"m": 9, "n": 10, "k": 50, "precision": "tf32"}, "bfloat16"),
    ("kernels/convolution", {"width": 40, "height": 30, "radius": 4}, "float16"),
    ("kernels/transpose", {"width": 40, "height": 30, "dtype": "float32"}, "float16"),
    ("kernels/reduction_problem.py", {**SUM, "dtype": "float32"}, "float16"),
    ("kernels/reduction_problem.py", {**SUM, "dtype": "float64"}, "float32"),
    (f"{OWN}/matmul", {"n": 50}, "float16"),
    (f"{OWN}/softmax", {"rows": 3, "width": 100, "block_size_x": 32}, "float16"),
    (f"{OWN}/layer_norm", {"rows": 3, "width": 100}, "float16"),
    (f"{OWN}/heat", {"n": 30}, "float16"),
    (f"{OWN}/black_scholes", {"n": 500}, "float16"),
    (f"{EXAMPLES}/axpy", {"n": 500}, "float16"),
    (f"{EXAMPLES}/total", {"n": 500, "block": 32}, "float16"),
    ("examples/new-study", {"n": 500}, "float16"),
]


@pytest.mark.parametrize(("folder", "axes", "lower"), SHIPPED)
def test_a_shipped_problem_refuses_results_of_the_next_lower_precision(
    folder: str, axes: dict[str, Any], lower: str
) -> None:
    file = folder if folder.endswith(".py") else f"{folder}/problem.py"
    names = {axis: isinstance(value, str) for axis, value in axes.items()}
    instance = problem_of({"file": file, "axes": names, "data": []}, ROOT).instance("a kernel", axes, 1)
    narrow = getattr(ml_dtypes, lower, None) or np.dtype(lower)

    def narrowed(values: Any) -> Any:
        return values.astype(narrow).astype(values.dtype)

    given = {name: narrowed(value) for name, value in instance.inputs.as_given.items()}
    found = instance.functions["reference"].call(axes, {**given, "inputs": given})
    for name, output in instance.outputs.items():
        right = {key: array.elements.astype(output.dtype) for key, array in instance.expected.items()}
        assert instance.judge(right, 12).mistake is None
        wrong = np.asarray(found[name]).reshape(-1)
        judged = instance.judge({**right, name: narrowed(wrong).astype(output.dtype)}, 12)
        assert judged.mistake is not None
