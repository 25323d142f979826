"""The task softmax_task.py as a problem."""

import softmax_task as task
from reader import kernelbench

inputs, outputs, reference, error_bound = kernelbench(task, sizes=["batch_size", "dim"])
