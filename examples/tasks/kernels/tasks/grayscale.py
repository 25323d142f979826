"""The task grayscale_task.py as a problem."""

import grayscale_task as task
from reader import gpu_mode

inputs, outputs, reference, error_bound = gpu_mode(task, rtol=1e-5, atol=1e-6)
