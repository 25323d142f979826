"""The sweep: studies and their checks, axes and points, kernels and how they are launched."""
