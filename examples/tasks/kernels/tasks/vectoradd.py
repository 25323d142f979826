"""The task vectoradd_task.py as a problem."""

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.gpu_mode("vectoradd_task.py")
