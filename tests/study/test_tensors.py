"""Problems in PyTorch: what functions return as tensors reaches kernels as arrays, and functions as tensors again."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from kernelsweep.errors import UserError
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem_file import problem_of

PROBLEM = """
import numpy as np
import torch
from kernelsweep import bounds

def inputs(random, n):
    x = torch.from_numpy(random.standard_normal((n, 2), np.float32))
    return {"x": x.to(torch.bfloat16), "y": x, "a": torch.from_numpy(np.array(0.5, np.float32))}

def outputs(n):
    return {"z": ((n, 2), np.float32)}

def reference(x, y, a):
    assert isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor) and isinstance(a, np.float32)
    y.array[:] += 1  # of its own copy
    return {"z": x.float()}

def error_bound(x, y, expected):
    assert abs(y.numpy()).max() < 9 and y.numpy().mean() < 0.9
    return {"z": bounds.rounded(x, "bfloat16")}
"""


class Tensor:
    """What kernelsweep uses of a torch.Tensor, which refuses to become an array where the real one does."""

    def __init__(self, array: Any, device: str = "cpu") -> None:
        self.array, self.device = array, device
        self.dtype = f"torch.{array.dtype.name}"

    def detach(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        if self.device != "cpu" or self.array.dtype == ml_dtypes.bfloat16:
            raise TypeError("can't convert")
        return self.array

    def to(self, dtype: Any) -> Tensor:
        return Tensor(self.array.astype(dtype))

    def float(self) -> Tensor:
        return self.to(np.float32)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    torch: Any = ModuleType("torch")
    torch.Tensor, torch.from_numpy, torch.bfloat16 = Tensor, Tensor, ml_dtypes.bfloat16
    torch.on_gpu = lambda array: Tensor(array, "cuda:0")
    monkeypatch.setitem(sys.modules, "torch", torch)

    def made(text: str, n: int) -> FileInstance:
        (tmp_path / "problem.py").write_text(text, encoding="utf-8")
        return problem_of({"file": "problem.py", "axes": {"n": False}, "data": []}, tmp_path).instance("k", {"n": n}, 1)

    return made


# Large inputs are kept on disk: the second instance finds them there.
@pytest.mark.parametrize("n", [8, 2**17])
def test_tensors_are_arrays_for_kernels_and_tensors_for_functions(n: int, made: Any) -> None:
    text = PROBLEM if n == 8 else PROBLEM.replace("x.to(torch.bfloat16)", "x")
    for _ in range(2):
        of = made(text, n)
        x = of.arrays()["x"]
        assert x.contents is not None
        assert (x.dtype.name, x.shape) == ("bfloat16" if n == 8 else "float32", (n, 2))
        assert of.judge({"z": x.contents.astype(np.float32)}, 1).mistake is None
        assert of.judge({"z": x.contents.astype(np.float32) * np.float32(1.01)}, 1).mistake is not None


def test_a_tensor_on_a_gpu_is_refused_with_what_would_be_right(made: Any) -> None:
    text = PROBLEM.replace('"y": x', '"y": torch.on_gpu(x.array)')
    with pytest.raises(UserError, match=r"inputs: y is a tensor on cuda:0. Allowed: a tensor on the CPU"):
        made(text, 8)
