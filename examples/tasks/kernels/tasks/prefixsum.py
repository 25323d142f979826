"""The task prefixsum_task.py as a problem."""

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.gpu_mode("prefixsum_task.py", rtol=0, atol=0)
