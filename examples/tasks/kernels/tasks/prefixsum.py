"""The task prefixsum_task.py as a problem."""

import prefixsum_task as task

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.gpu_mode(task, rtol=0, atol=0)
