"""Baselines for kernels: sums on the host, libraries' reductions, and the driver's copy and fill."""
