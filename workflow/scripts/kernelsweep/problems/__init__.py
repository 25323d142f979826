"""What kernels compute: for each problem its input, its reference result and its error bound."""
