"""The task grayscale_task.py as a problem."""

from kernelsweep import tasks

inputs, outputs, reference, error_bound = tasks.gpu_mode("grayscale_task.py", rtol=1e-5, atol=1e-6)
