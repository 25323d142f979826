"""The task matmul_relu_task.py as a problem."""

import matmul_relu_task as task
from reader import kernelbench

inputs, outputs, reference, error_bound = kernelbench(task, sizes=["M", "K", "N"])
