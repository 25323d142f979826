"""Tasks in the forms of others as problems: KernelBench's, SOL-ExecBench's and GPU MODE's. A problem.py is two lines:

from kernelsweep import tasks
inputs, outputs, reference, error_bound = tasks.kernelbench("94_MSELoss.py", sizes=["batch_size"])

The task's file stays as it is. Arrays have the task's names or, where it has none, input_0, input_1, ... and output.
What a task allows is wider than a bound that is derived (bounds.py): it passes what is less exact.
"""

from __future__ import annotations

import ast
import inspect
import json
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from kernelsweep.errors import UserError
from kernelsweep.tensors import as_array, is_tensor

Function = Callable[..., Any]
# inputs, outputs, reference and error_bound, as a problem.py has them.
Functions = tuple[Function, Function, Function, Function]


def kernelbench(file: str, sizes: Sequence[str] = (), rtol: float = 1e-4, atol: float = 1e-4) -> Functions:
    """A file with get_inputs(), get_init_inputs() and the class Model, from the folder of the problem file.

    sizes  names that the file sets at its top, as in `batch_size = 128`, and that are axes of the study

    The model's parameters are inputs of the kernel, too, with their names: `linear.weight` is linear_weight. The
    reference is computed in float64. Raises UserError for a size that the file doesn't set.
    """
    path = _beside(file)
    source = ast.parse(path.read_bytes(), str(path))

    def task(axes: Mapping[str, Any]) -> ModuleType:
        return _with_sizes(source, path, axes)

    def made(seed: int, **axes: Any) -> dict[str, Any]:
        with _seeded(seed):
            of = task(axes)
            given = {f"input_{number}": value for number, value in enumerate(of.get_inputs())}
            return given | {name.replace(".", "_"): value for name, value in _parameters(of).items()}

    def computed(values: Mapping[str, Any], axes: Mapping[str, Any], exact: bool = True) -> dict[str, Any]:
        of = task(axes)
        with _seeded(0):
            model = of.Model(*of.get_init_inputs())
        given = [value for name, value in values.items() if name.startswith("input_")]
        if hasattr(model, "load_state_dict"):
            model.load_state_dict({name: values[name.replace(".", "_")] for name in model.state_dict()})
            model = model.double() if exact else model
            given = [value.double() if exact and _is_float(value) else value for value in given]
        return {"output": model.forward(*given)}

    return _problem(sizes, made, computed, rtol, atol)


def sol_execbench(
    definition: str, workload: str = "", rtol: float = 1e-2, atol: float = 1e-2, **scalars: Any
) -> Functions:
    """A definition.json, from the folder of the problem file; the study names it under `data`.

    workload  a workload.jsonl, whose first line has the values of scalars; scalars may be given instead, as eps=1e-6

    Its axes of the kind `var` are axes of the study. Random inputs are drawn from the normal distribution, and integers
    from 0 to 9; a custom entry point makes its own. Raises UserError for a scalar without a value.
    """
    task = json.loads(_beside(definition).read_text(encoding="utf-8"))
    described = task["inputs"]
    if workload:
        first = json.loads(_beside(workload).read_text(encoding="utf-8").splitlines()[0])
        first = first.get("workload", first)
        scalars = {name: one["value"] for name, one in first["inputs"].items() if one["type"] == "scalar"} | scalars
    numbers = [name for name, one in described.items() if one["shape"] is None]
    if missing := [name for name in numbers if name not in scalars]:
        raise UserError(f"{definition}: no value is given for {', '.join(missing)}. Give it as {missing[0]}=... .")
    sizes = [name for name, axis in task["axes"].items() if axis["type"] == "var"]
    entry = task.get("custom_inputs_entrypoint")

    @cache
    def code() -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(task["reference"], definition, "exec"), names)
        return names

    def made(seed: int, **axes: Any) -> dict[str, Any]:
        import torch

        known = _axes(task["axes"], axes)
        with _seeded(seed):
            if entry:
                found = code()[entry]({**known, **scalars}, torch.device("cpu"))
            else:
                found = {
                    name: _drawn([known[axis] for axis in one["shape"]], getattr(torch, one["dtype"]))
                    for name, one in described.items()
                    if name not in numbers
                }
        return {name: found[name] if name not in numbers else scalars[name] for name in described}

    def computed(values: Mapping[str, Any], axes: Mapping[str, Any], exact: bool = True) -> dict[str, Any]:
        found = code()["run"](**{name: scalars.get(name, values[name]) for name in described})
        return dict(zip(task["outputs"], found if isinstance(found, tuple | list) else (found,), strict=True))

    return _problem(sizes, made, computed, rtol, atol)


def gpu_mode(task: ModuleType, rtol: float = 1e-5, atol: float = 1e-8) -> Functions:
    """A module reference.py with generate_input(<sizes>, seed) and ref_kernel(data); the sizes are the study's axes."""
    sizes = [name for name in inspect.signature(task.generate_input).parameters if name != "seed"]

    def made(seed: int, **axes: Any) -> dict[str, Any]:
        data = task.generate_input(**axes, seed=seed)
        return {f"input_{number}": value for number, value in enumerate(data if isinstance(data, tuple) else (data,))}

    def computed(values: Mapping[str, Any], axes: Mapping[str, Any], exact: bool = True) -> dict[str, Any]:
        data = tuple(values.values())
        return {"output": task.ref_kernel(data if len(data) > 1 else data[0])}

    return _problem(sizes, made, computed, rtol, atol)


def _problem(sizes: Sequence[str], made: Function, computed: Function, rtol: float, atol: float) -> Functions:
    @cache
    def outputs(**axes: Any) -> dict[str, Any]:
        found = computed(made(0, **axes), axes, exact=False)
        arrays = {name: np.atleast_1d(as_array(value)) for name, value in found.items()}
        return {name: (array.shape, array.dtype) for name, array in arrays.items()}

    def inputs(random: np.random.Generator, **axes: Any) -> dict[str, Any]:
        return made(int(random.integers(2**31)), **axes)  # type: ignore[no-any-return]

    def reference(inputs: Mapping[str, Any], **axes: Any) -> dict[str, Any]:
        own = {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in inputs.items()}
        return {name: np.atleast_1d(_wide(value)) for name, value in computed(own, axes).items()}

    def error_bound(expected: Mapping[str, Any]) -> dict[str, Any]:
        """What numpy.allclose takes for equal, as the task has it."""
        return {
            name: atol + rtol * abs(right.astype(np.float64))
            for name, right in expected.items()
            if right.dtype.kind == "f"
        }

    inputs.__signature__ = _signature(["random", *sizes])  # type: ignore[attr-defined]
    outputs.__signature__ = _signature(sizes)  # type: ignore[attr-defined]
    reference.__signature__ = _signature(["inputs", *sizes])  # type: ignore[attr-defined]
    return inputs, outputs, reference, error_bound


def _signature(names: Iterable[str]) -> inspect.Signature:
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])


def _beside(file: str) -> Path:
    """A file from the folder of the problem file, which calls the function that calls this."""
    return Path(sys._getframe(2).f_globals["__file__"]).parent / file


def _with_sizes(source: ast.Module, path: Path, sizes: Mapping[str, Any]) -> ModuleType:
    """The module of a task's file, with these values of names that it sets at its top, and what follows from them."""
    missing = {*sizes}
    body: list[ast.stmt] = []
    for statement in source.body:
        body.append(statement)
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
        for name in names & {*sizes}:
            missing.discard(name)
            body += ast.parse(f"{name} = {sizes[name]!r}").body
    if missing:
        raise UserError(f"{path.name} sets no {' nor '.join(sorted(missing))} at its top, as in: n = 128.")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(ast.Module(body, []), str(path), "exec"), vars(module))
    return module


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Draws of NumPy's and PyTorch's own generators follow a seed inside, and go on afterwards as they were."""
    torch, before = sys.modules.get("torch"), np.random.get_state()
    np.random.seed(seed)
    try:
        with torch.random.fork_rng(devices=[]) if torch else nullcontext():
            if torch:
                torch.manual_seed(seed)
            yield
    finally:
        np.random.set_state(before)


def _parameters(task: ModuleType) -> dict[str, Any]:
    """The parameters and buffers of a model, where it is one of PyTorch's."""
    model = task.Model(*task.get_init_inputs())
    return dict(model.state_dict()) if hasattr(model, "state_dict") else {}


def _is_float(value: Any) -> bool:
    return is_tensor(value) and value.is_floating_point()


def _drawn(shape: Sequence[int], dtype: Any) -> Any:
    import torch

    if dtype.is_floating_point:
        return torch.randn(*shape).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 10, tuple(shape)).to(dtype)


def _wide(value: Any) -> Any:
    """A right result as NumPy's array, in float64 where it is one of floats."""
    array = np.asarray(as_array(value))
    return array if array.dtype.kind in "biu" else array.astype(np.float64)


_OPERATORS: Mapping[type[ast.AST], Function] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def _axes(described: Mapping[str, Mapping[str, Any]], given: Mapping[str, int]) -> dict[str, int]:
    """The values of all axes of a definition: constants, those that are given, and expressions over these."""
    known = {name: axis["value"] for name, axis in described.items() if axis["type"] == "const"} | dict(given)

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return known[node.id]
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp):
            return _OPERATORS[type(node.op)](value(node.operand))
        assert isinstance(node, ast.BinOp), "the form allows no other"
        return _OPERATORS[type(node.op)](value(node.left), value(node.right))

    for name, axis in described.items():
        if axis["type"] == "expr":
            known[name] = int(value(ast.parse(axis["expression"], mode="eval").body))
    return known
