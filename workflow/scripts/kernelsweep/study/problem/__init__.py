"""The problems that kernels solve, each with its axes, its input, its reference result and its error bound."""
