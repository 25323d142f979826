"""Kernels: their source files, and how they are compiled and launched."""
