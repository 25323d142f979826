"""From a running program to a study, and back: its kernels, a launch's data as a study, a winner in its place."""
