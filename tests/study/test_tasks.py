"""Tasks in the forms of KernelBench and SOL-ExecBench are read as they are, and a kernel of each is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelsweep.errors import UserError
from kernelsweep.study.problem.file_instance import FileInstance
from kernelsweep.study.problem.problem_file import problem_of

MODEL = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, {arguments}):
        super().__init__()
        {init}

    def forward(self, {inputs}):
        return {result}

n = 64
shape = (n, 2 * n)

def get_inputs():
    return [{drawn}]

def get_init_inputs():
    return [{values}]
"""
ONE = {"arguments": "", "values": "", "init": "pass", "inputs": "x", "drawn": "torch.rand(shape)"}
TWO = {**ONE, "inputs": "x, y"}
# By name: the task, and what a right kernel leaves, of its arrays by name.
KERNELBENCH: dict[str, tuple[dict[str, str], Any]] = {
    "relu": ({**ONE, "result": "torch.relu(x - 0.5)"}, lambda a: np.maximum(a["input_0"] - np.float32(0.5), 0)),
    "softmax": (
        {**ONE, "result": "torch.softmax(x, dim=1)"},
        lambda a: (powers := np.exp(a["input_0"])) / powers.sum(1, keepdims=True),
    ),
    "mse_loss": (
        {
            **ONE,
            "inputs": "x, y",
            "drawn": "torch.rand(shape), torch.rand(shape)",
            "result": "torch.mean((x - y) ** 2)",
        },
        lambda a: np.mean((a["input_0"] - a["input_1"]) ** 2, keepdims=True).reshape(1),
    ),
    "matmul": (
        {**TWO, "drawn": "torch.rand(n, 8), torch.rand(8, n)", "result": "x @ y"},
        lambda a: a["input_0"] @ a["input_1"],
    ),
    "linear": (
        {
            **ONE,
            "arguments": "width",
            "values": "3",
            "init": "self.linear = nn.Linear(2 * n, width)",
            "result": "self.linear(x)",
        },
        lambda a: a["input_0"] @ a["linear_weight"].T + a["linear_bias"],
    ),
}
RMS_NORM = {
    "name": "rms_norm_h64",
    "axes": {
        "rows": {"type": "var"},
        "half": {"type": "const", "value": 32},
        "width": {"type": "expr", "expression": "2 * half"},
    },
    "inputs": {
        "x": {"shape": ["rows", "width"], "dtype": "bfloat16"},
        "weight": {"shape": ["width"], "dtype": "bfloat16"},
        "eps": {"shape": None, "dtype": "float32"},
    },
    "outputs": {"y": {"shape": ["rows", "width"], "dtype": "bfloat16"}},
    "reference": """import torch
def run(x, weight, eps):
    wide = x.float()
    return (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps) * weight).to(x.dtype)
""",
}
GATHER = {
    "name": "gather_w16",
    "custom_inputs_entrypoint": "made",
    "axes": {"rows": {"type": "var"}, "width": {"type": "const", "value": 16}},
    "inputs": {
        "table": {"shape": ["rows", "width"], "dtype": "float32"},
        "places": {"shape": ["rows"], "dtype": "int32"},
    },
    "outputs": {
        "taken": {"shape": ["rows", "width"], "dtype": "float32"},
        "total": {"shape": ["rows"], "dtype": "int32"},
    },
    "reference": """import torch
def made(axes_and_scalars, device):
    rows, width = axes_and_scalars["rows"], axes_and_scalars["width"]
    places = torch.randperm(rows, device=device).to(torch.int32)
    return {"table": torch.randn(rows, width, device=device), "places": places}
def run(table, places):
    return table[places], torch.cumsum(places, 0).to(torch.int32)
""",
}


def made(folder: Path, call: str, axes: dict[str, int], data: list[str] | None = None) -> FileInstance:
    text = f"from kernelsweep import tasks\ninputs, outputs, reference, error_bound = tasks.{call}\n"
    (folder / "problem.py").write_text(text, encoding="utf-8")
    named = {"file": "problem.py", "axes": dict.fromkeys(axes, False), "data": data or []}
    return problem_of(named, folder).instance("k", axes, 1)  # type: ignore[arg-type]


def arrays_of(instance: FileInstance) -> dict[str, Any]:
    arrays = instance.arrays()
    return {name: one.contents.reshape(one.shape) for name, one in arrays.items() if one.contents is not None}


def mistake(instance: FileInstance, **found: Any) -> str | None:
    """What is wrong with results."""
    return instance.judge({name: value.ravel() for name, value in found.items()}, 1).mistake


@pytest.mark.parametrize("name", KERNELBENCH)
def test_a_file_of_kernelbench_is_a_problem_in_two_lines(name: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    task, right = KERNELBENCH[name]
    (tmp_path / f"19_{name}.py").write_text(MODEL.format(**task), encoding="utf-8")
    instance = made(tmp_path, f'kernelbench("19_{name}.py", sizes=["n"])', {"n": 32})
    arrays = arrays_of(instance)
    # shape follows from n.
    assert arrays["input_0"].shape == ((32, 8) if name == "matmul" else (32, 64))
    found = right(arrays).astype(np.float32)
    assert mistake(instance, output=found) is None
    assert mistake(instance, output=found * np.float32(1.01) + np.float32(0.01))
    again = arrays_of(made(tmp_path, f'kernelbench("19_{name}.py", sizes=["n"])', {"n": 32}))
    assert all((arrays[one] == again[one]).all() for one in arrays)
    with pytest.raises(UserError, match=r"sets no m at its top"):
        made(tmp_path, f'kernelbench("19_{name}.py", sizes=["m"])', {"m": 32}).arrays()


def test_definitions_of_sol_execbench_are_problems_in_two_lines(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "definition.json").write_text(json.dumps(RMS_NORM))
    line = {
        "uuid": "1",
        "axes": {"rows": 1},
        "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}},
    }
    (tmp_path / "workload.jsonl").write_text(json.dumps(line) + "\n")
    data = ["definition.json", "workload.jsonl"]
    instance = made(tmp_path, 'sol_execbench("definition.json", "workload.jsonl")', {"rows": 5}, data)
    arrays = arrays_of(instance)
    x, weight = (arrays[name].astype(np.float32) for name in ("x", "weight"))
    assert arrays["x"].dtype.name == "bfloat16" and x.shape == (5, 64)
    y = x / np.sqrt((x**2).mean(1, keepdims=True) + 1e-6) * weight
    assert mistake(instance, y=y.astype(arrays["x"].dtype)) is None
    assert mistake(instance, y=(y * 1.1).astype(arrays["x"].dtype))
    with pytest.raises(UserError, match=r"no value is given for eps\. Give it as eps="):
        made(tmp_path, 'sol_execbench("definition.json")', {"rows": 5}, data)

    (tmp_path / "definition.json").write_text(json.dumps(GATHER))
    instance = made(tmp_path, 'sol_execbench("definition.json")', {"rows": 9}, data)
    arrays = arrays_of(instance)
    found = {"taken": arrays["table"][arrays["places"]], "total": np.cumsum(arrays["places"], dtype=np.int32)}
    assert mistake(instance, **found) is None
    assert mistake(instance, **{**found, "total": found["total"] + np.int32(1)})


def test_a_workload_brings_its_scalars_tolerance_and_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    save = pytest.importorskip("safetensors.torch").save_file
    definition = {
        "axes": {"rows": {"type": "var"}},
        "inputs": {
            "x": {"shape": ["rows"], "dtype": "float32"},
            "places": {"shape": ["rows"], "dtype": "int32"},
            "scale": {"shape": None, "dtype": "float32"},
        },
        "outputs": {"y": {"shape": ["rows"], "dtype": "float32"}},
        "reference": "def run(x, places, scale): return x[places] * scale",
    }
    (tmp_path / "definition.json").write_text(json.dumps(definition))
    save({"places": torch.tensor([2, 0, 1], dtype=torch.int32)}, tmp_path / "kept.safetensors")
    stored = {"type": "safetensors", "path": "data/of/kept.safetensors", "tensor_key": "places"}
    lines = [
        {
            "axes": {"rows": rows},
            "inputs": {"x": {"type": "random"}, "places": stored, "scale": {"type": "scalar", "value": rows}},
            "tolerance": {"max_atol": 0.5 / rows, "max_rtol": 0, "max_error_cap": 0.125},
        }
        for rows in (4, 3)
    ]
    (tmp_path / "workload.jsonl").write_text("\n".join(map(json.dumps, lines)))
    data = ["definition.json", "workload.jsonl", "kept.safetensors"]
    call = 'sol_execbench("definition.json", "workload.jsonl")'
    instance = made(tmp_path, call, {"rows": 3}, data)
    arrays = arrays_of(instance)
    assert [*arrays["places"]] == [2, 0, 1]
    right = arrays["x"][arrays["places"]] * np.float32(3)
    assert mistake(instance, y=right + np.float32(0.12)) is None and mistake(instance, y=right + np.float32(0.13))
    with pytest.raises(UserError, match=r"places has the shape \[3\], and not \[4\]"):
        made(tmp_path, call, {"rows": 4}, data).arrays()
    with pytest.raises(UserError, match=r"opens .*kept.safetensors, and kept results would outlive"):
        made(tmp_path, call, {"rows": 3}, data[:2]).arrays()
    for line in lines:
        line["tolerance"]["required_matched_ratio"] = 0.95
    (tmp_path / "workload.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(UserError, match=r"line 1 accepts a result with 0\.95 of its elements .*Give rtol="):
        made(tmp_path, call.replace(")", ", atol=0.2)"), {"rows": 3}, data).arrays()
    of_all = made(tmp_path, call.replace(")", ", rtol=0, atol=0.2)"), {"rows": 3}, data)
    assert mistake(of_all, y=right + np.float32(0.12)) is None


def test_a_board_of_gpu_mode_is_read_from_its_file(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "board").mkdir()
    (tmp_path / "utils.py").write_text("def make_match_reference(reference, **allowed): return reference\n")
    (tmp_path / "board/task.py").write_text("input_t = output_t = object\n")
    (tmp_path / "board/reference.py").write_text(
        """import torch
from task import input_t
from utils import make_match_reference

def ref_kernel(data: input_t):
    data, output = data
    output[...] = data.cumsum(0)
    return output

def generate_input(size: int, seed: int):
    gen = torch.Generator(device="cuda")
    gen.manual_seed(seed)
    x = torch.randn(size, device="cuda", generator=gen)
    return x, torch.zeros_like(x)

check_implementation = make_match_reference(ref_kernel, rtol=0, atol=0.25)
"""
    )
    instance = made(tmp_path, 'gpu_mode("board/reference.py")', {"size": 9})
    arrays = arrays_of(instance)
    right = np.cumsum(arrays["input_0"], dtype=np.float32)
    assert not arrays["input_1"].any()
    assert mistake(instance, output=right + np.float32(0.2)) is None
    assert mistake(instance, output=right + np.float32(0.3))


def test_who_reads_the_script_of_a_job_opens_no_file_of_the_users(tmp_path: Path) -> None:
    # As PyTorch does, which looks at the sources of its callers.
    for folder in (".snakemake/scripts", "own"):
        script = tmp_path / folder / "job.py"
        script.parent.mkdir(parents=True)
        script.touch()
        (tmp_path / "problem.py").write_text(
            f"def outputs(n): return {{'y': ((n,), open({str(script)!r}).read() or 'float32')}}\n"
            "import numpy\ndef reference(n): return {'y': numpy.zeros(n)}\n"
        )
        problem = problem_of({"file": "problem.py", "axes": {"n": False}, "data": []}, tmp_path)
        if folder == "own":
            with pytest.raises(UserError, match=r"opens .*own/job.py, and kept results would outlive"):
                problem.instance("k", {"n": 3}, 1)
        else:
            problem.instance("k", {"n": 3}, 1).check()
