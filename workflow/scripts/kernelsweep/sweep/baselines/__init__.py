"""Baselines for kernels: libraries' functions, and the driver's copy and fill."""
