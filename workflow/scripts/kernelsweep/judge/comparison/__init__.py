"""Compare two sweeps, such as before and after an edit of a kernel, point by point."""
