"""What kernels are compared with: sums on the host, libraries' reductions, and the driver's copy and fill."""
