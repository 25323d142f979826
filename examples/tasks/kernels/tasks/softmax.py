"""The task softmax_task.py as a problem."""

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.kernelbench("softmax_task.py", sizes=["batch_size", "dim"])
