"""The task vectoradd_task.py as a problem."""

import vectoradd_task as task
from reader import gpu_mode

inputs, outputs, reference, error_bound = gpu_mode(task)
