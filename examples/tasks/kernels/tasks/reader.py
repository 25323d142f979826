"""Tasks of others as problems: of GPU MODE's boards, and of KernelBench, with references in NumPy.

A task's file stays as it is. What a problem.py has follows from it: arrays are called input_0, input_1, ... and output.
"""

import inspect
from functools import cache

import numpy as np


def gpu_mode(task, rtol=1e-5, atol=1e-8):
    """A reference.py with generate_input(<sizes>, seed) and ref_kernel(data); the sizes are the study's axes."""
    sizes = [name for name in inspect.signature(task.generate_input).parameters if name != "seed"]

    def made(seed, **axes):
        data = task.generate_input(**axes, seed=seed)
        return data if isinstance(data, tuple) else (data,)

    return _problem(sizes, made, lambda data: task.ref_kernel(data if len(data) > 1 else data[0]), rtol, atol)


def kernelbench(task, sizes=(), rtol=1e-4, atol=1e-4):
    """A file with get_inputs(), get_init_inputs() and the class Model; `sizes` are constants of it that are axes."""

    def made(seed, **axes):
        vars(task).update(axes)
        np.random.seed(seed)
        return tuple(task.get_inputs())

    return _problem(sizes, made, lambda data: task.Model(*task.get_init_inputs()).forward(*data), rtol, atol)


def _problem(sizes, made, computed, rtol, atol):
    @cache
    def output(**axes):
        found = np.asarray(computed(made(0, **axes)))
        return {"output": (found.shape, found.dtype)}

    def inputs(random, **axes):
        return {f"input_{number}": value for number, value in enumerate(made(int(random.integers(2**31)), **axes))}

    def reference(inputs):
        return {"output": computed(tuple(np.copy(value) for value in inputs.values()))}

    def error_bound(expected):
        """What numpy.allclose takes for equal, as the task has it."""
        return {"output": atol + rtol * abs(expected["output"].astype(np.float64))}

    inputs.__signature__ = _signature(["random", *sizes])
    output.__signature__ = _signature(sizes)
    return inputs, output, reference, error_bound


def _signature(names):
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
