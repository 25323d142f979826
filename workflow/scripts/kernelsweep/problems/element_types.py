"""The element types that kernels are swept over: NumPy's name for each, and C++'s as compilers print it."""

from __future__ import annotations

from collections.abc import Mapping

# long has 64 bits on every system that CUDA supports but Windows.
CXX_TYPES: Mapping[str, str] = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}
