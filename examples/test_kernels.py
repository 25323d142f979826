"""Kernels are tested like any code, without a GPU: pytest examples/test_kernels.py (docs/check.md)."""

from pathlib import Path

import numpy as np

import kernelsweep as ks

HERE = Path(__file__).parent


def inputs(random, n):
    return {name: random.standard_normal(n, np.float32) for name in "xy"} | {"a": np.float32(0.3)}


def reference(x, y, a):
    return {"y": np.float64(a) * x + y}


def error_bound(x, y, a):
    """A product and a sum, each rounded once."""
    return {"y": (a * ks.bounds.exact(x) + ks.bounds.exact(y)).error}


def test_axpy_is_right_at_any_size():
    cases = [{"n": 1}, {"n": 1000}]
    checked = ks.check(HERE / "axpy.cu", cases=cases, inputs=inputs, reference=reference, error_bound=error_bound)
    assert checked.right, checked


def test_softmax_lacks_a_barrier():
    checked = ks.check(HERE / "softmax.cu", cases=[{"rows": 2, "columns": 200}])
    assert [finding.kind for finding in checked.findings] == ["race"], checked
