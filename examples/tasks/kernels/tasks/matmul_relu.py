"""The task matmul_relu_task.py as a problem."""

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.kernelbench("matmul_relu_task.py", sizes=["M", "K", "N"])
