"""The task grayscale_task.py as a problem."""

import grayscale_task as task

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.gpu_mode(task, rtol=1e-5, atol=1e-6)
