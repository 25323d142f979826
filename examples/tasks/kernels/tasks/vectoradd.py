"""The task vectoradd_task.py as a problem."""

import vectoradd_task as task

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.gpu_mode(task)
