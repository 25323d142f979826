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
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from kernelsweep.base.json_files import read_json
from kernelsweep.base.plain_files import read_text
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
            model = of.Model(*of.get_init_inputs())
            held = model.state_dict() if hasattr(model, "state_dict") else {}
            return given | {name.replace(".", "_"): value for name, value in held.items()}

    def computed(values: Mapping[str, Any], axes: Mapping[str, Any], exact: bool = True) -> dict[str, Any]:
        of = task(axes)
        with _seeded(0):
            model = of.Model(*of.get_init_inputs())
        given = [value for name, value in values.items() if name.startswith("input_")]
        if hasattr(model, "load_state_dict"):
            import torch

            held = {name: torch.as_tensor(values[name.replace(".", "_")]) for name in model.state_dict()}
            model.load_state_dict(held)
            model = model.double() if exact else model
            given = [one.double() if exact and is_tensor(one) and one.is_floating_point() else one for one in given]
        return {"output": model.forward(*given)}

    return _problem(sizes, made, computed, lambda axes: (rtol, atol, np.inf))


def sol_execbench(
    definition: str, workload: str = "", rtol: float | None = None, atol: float | None = None, **scalars: Any
) -> Functions:
    """A definition.json, from the folder of the problem file; the study names it under `data`.

    workload    a workload.jsonl. A point gets scalars, tensors and the tolerance of the line with its axes, else of the
                first line
    rtol, atol  in place of the line's max_rtol and max_atol; 0.01 where it has none. All elements have to be within
                both, so that they must be given where a line asks for a part of them (required_matched_ratio)
    scalars     in place of the line's, as eps=1e-6

    Its axes of the kind `var` are axes of the study. A custom entry point makes its inputs, and files of safetensors
    have theirs; the others are drawn from the normal distribution, integers from 0 to 9. Raises UserError for a scalar
    without a value, for a part of the elements, and for a tensor that can't be read or has another shape.
    """
    path = _beside(definition)
    task = read_json(path)
    described = task["inputs"]
    lines = read_text(_beside(workload)).splitlines() if workload else ["{}"]
    workloads = [one.get("workload", one) for one in map(json.loads, lines)]
    for number, one in enumerate(workloads, 1):
        ratio = (one.get("tolerance") or {}).get("required_matched_ratio", 1)
        if ratio < 1 and None in (rtol, atol):
            raise UserError(
                f"{workload}: line {number} accepts a result with {ratio:.4g} of its elements within the tolerance "
                "(required_matched_ratio). kernelsweep asks for all of them. Give rtol=... and atol=... for all."
            )
    numbers = [name for name, one in described.items() if one["shape"] is None]
    sizes = [name for name, axis in task["axes"].items() if axis["type"] == "var"]
    entry = task.get("custom_inputs_entrypoint")

    @cache
    def code() -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(task["reference"], definition, "exec"), names)
        return names

    def line_of(axes: Mapping[str, Any]) -> dict[str, Any]:
        return next((one for one in workloads if one.get("axes") == {**axes}), workloads[0])

    def scalars_of(axes: Mapping[str, Any]) -> dict[str, Any]:
        given = line_of(axes).get("inputs", {})
        known = {name: one["value"] for name, one in given.items() if one["type"] == "scalar"} | scalars
        if missing := [name for name in numbers if name not in known]:
            raise UserError(f"{definition}: no value is given for {', '.join(missing)}. Give it as {missing[0]}=... .")
        return known

    scalars_of({})  # A mistake is told when the file is read.

    def made(seed: int, **axes: Any) -> dict[str, Any]:
        import torch

        known = _axes(task["axes"], axes)
        found = scalars_of(axes)
        with _seeded(seed):
            if entry:
                found = found | code()[entry]({**known, **found}, torch.device("cpu"))
            for name, one in described.items():
                shape = [known[axis] for axis in one["shape"] or []]
                source = line_of(axes).get("inputs", {}).get(name, {})
                if source.get("type") == "safetensors":
                    found[name] = _stored(path.parent, source, f"{workload}: {name}")
                    if [*found[name].shape] != shape:
                        raise UserError(f"{workload}: {name} has the shape {[*found[name].shape]}, and not {shape}.")
                elif name not in found:
                    found[name] = _drawn(shape, getattr(torch, one["dtype"]))
        return {name: found[name] for name in described}

    def computed(values: Mapping[str, Any], axes: Mapping[str, Any], exact: bool = True) -> dict[str, Any]:
        known = scalars_of(axes)
        found = code()["run"](**{name: known.get(name, values[name]) for name in described})
        return dict(zip(task["outputs"], found if isinstance(found, tuple | list) else (found,), strict=True))

    def allowed(axes: Mapping[str, Any]) -> tuple[float, float, float]:
        told = line_of(axes).get("tolerance") or {}
        own = told.get("max_rtol", 1e-2), told.get("max_atol", 1e-2)
        cap = told.get("max_error_cap")
        return own[0] if rtol is None else rtol, own[1] if atol is None else atol, np.inf if cap is None else cap

    return _problem(sizes, made, computed, allowed)


def gpu_mode(file: str, rtol: float | None = None, atol: float | None = None) -> Functions:
    """A reference.py with generate_input(<sizes>, seed) and ref_kernel(data); the sizes are the study's axes.

    rtol, atol  in place of what the file gives to make_match_reference, or else of 1e-5 and 1e-8

    It may import modules of its own folder and of the one above. What it puts on a GPU is put on the CPU.
    """
    path = _beside(file)
    source = _OnCpu().visit(ast.parse(path.read_bytes(), str(path)))
    told = {"rtol": 1e-5, "atol": 1e-8}
    for node in ast.walk(source):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "make_match_reference":
            told |= {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    with _modules_first(path.parent, path.parent.parent):
        task = _module_of(source, path)
    sizes = [name for name in inspect.signature(task.generate_input).parameters if name != "seed"]

    def made(seed: int, **axes: Any) -> dict[str, Any]:
        with _seeded(seed):
            data = task.generate_input(**axes, seed=seed)
        return {f"input_{number}": value for number, value in enumerate(data if isinstance(data, tuple) else (data,))}

    def computed(values: Mapping[str, Any], axes: Mapping[str, Any], exact: bool = True) -> dict[str, Any]:
        data = tuple(value.clone() if is_tensor(value) else value for value in values.values())
        return {"output": task.ref_kernel(data if len(data) > 1 else data[0])}

    own = told["rtol"] if rtol is None else rtol, told["atol"] if atol is None else atol
    return _problem(sizes, made, computed, lambda axes: (*own, np.inf))


def _problem(sizes: Sequence[str], made: Function, computed: Function, allowed: Function) -> Functions:
    """A problem's functions. allowed  gives of axes: rtol, atol, and the largest error."""

    @cache
    def outputs(**axes: Any) -> dict[str, Any]:
        found = computed(made(0, **axes), axes, exact=False)
        arrays = {name: np.atleast_1d(as_array(value)) for name, value in found.items()}
        return {name: (array.shape, array.dtype) for name, array in arrays.items()}

    def inputs(random: np.random.Generator, **axes: Any) -> dict[str, Any]:
        # Small, as boards' are: some tasks add the seed to what they draw.
        return made(int(random.integers(2**13)), **axes)  # type: ignore[no-any-return]

    def reference(inputs: Mapping[str, Any], **axes: Any) -> dict[str, Any]:
        own = {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in inputs.items()}
        return {name: np.atleast_1d(_wide(value)) for name, value in computed(own, axes).items()}

    def error_bound(expected: Mapping[str, Any], **axes: Any) -> dict[str, Any]:
        """What numpy.allclose takes for equal, as the task has it."""
        rtol, atol, largest = allowed(axes)
        return {
            name: np.minimum(atol + rtol * abs(right.astype(np.float64)), largest)
            for name, right in expected.items()
            if right.dtype.kind == "f"
        }

    inputs.__signature__ = _signature(["random", *sizes])  # type: ignore[attr-defined]
    outputs.__signature__ = _signature(sizes)  # type: ignore[attr-defined]
    reference.__signature__ = _signature(["inputs", *sizes])  # type: ignore[attr-defined]
    error_bound.__signature__ = _signature(["expected", *sizes])  # type: ignore[attr-defined]
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
    return _module_of(ast.Module(body, []), path)


def _module_of(source: ast.Module, path: Path) -> ModuleType:
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(source, str(path), "exec"), vars(module))
    return module


@contextmanager
def _modules_first(*folders: Path) -> Iterator[None]:
    """Modules of these folders come first inside, and are forgotten afterwards: each board has a `task` of its own."""
    names = {file.stem for folder in folders for file in folder.glob("*.py")} - sys.stdlib_module_names
    hidden = {name: sys.modules.pop(name) for name in names & sys.modules.keys()}
    sys.path[:0] = map(str, folders)
    try:
        yield
    finally:
        del sys.path[: len(folders)]
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(hidden)


class _OnCpu(ast.NodeTransformer):
    """Names the CPU where a file names a GPU, as in device="cuda"."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.copy_location(ast.Constant("cpu"), node) if node.value in ("cuda", "cuda:0") else node


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


def _drawn(shape: Sequence[int], dtype: Any) -> Any:
    import torch

    if dtype.is_floating_point:
        return torch.randn(*shape).to(dtype)
    return torch.randint(0, 2 if dtype == torch.bool else 10, tuple(shape)).to(dtype)


def _stored(folder: Path, source: Mapping[str, str], where: str) -> Any:
    """A tensor of a file of safetensors. Its path may begin above the folder, as SOL-ExecBench's do."""
    try:
        from safetensors.torch import load
    except ImportError as error:
        raise UserError(
            f"{where} is in a file of safetensors, and the package safetensors is not installed."
        ) from error
    parts = Path(source["path"]).parts
    paths = [folder.joinpath(*parts[start:]) for start in range(len(parts))]
    path = next((one for one in paths if one.is_file()), None)
    if path is None:
        raise UserError(f"{where}: {paths[-1]} is not there.")
    # Read by Python, which tells that the problem has read it.
    tensors = load(path.read_bytes())
    if source["tensor_key"] not in tensors:
        raise UserError(f"{where}: {path.name} has no {source['tensor_key']}. It has {', '.join(sorted(tensors))}.")
    return tensors[source["tensor_key"]]


def _wide(value: Any) -> Any:
    """A right result as NumPy's array, in float64 where it is one of floats."""
    array = np.asarray(as_array(value))
    return array if array.dtype.kind in "biu" else array.astype(np.float64)


def _axes(described: Mapping[str, Mapping[str, Any]], given: Mapping[str, int]) -> dict[str, int]:
    """The values of all axes of a definition: constants, those that are given, and expressions over these."""
    known = {name: axis["value"] for name, axis in described.items() if axis["type"] == "const"} | dict(given)
    for name, axis in described.items():
        if axis["type"] == "expr":
            # The same file's reference is run, too.
            known[name] = int(eval(axis["expression"], {"__builtins__": {}}, known))
    return known
