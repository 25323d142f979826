"""What kernels compute: for each problem its axes, its input, its reference result and its error bound."""
