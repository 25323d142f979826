"""The element types that kernels are swept over: NumPy's name for each, and C++'s as compilers print it."""

from __future__ import annotations

from collections.abc import Mapping

# long has 64 bits on every system that CUDA supports but Windows.
CXX_TYPES: Mapping[str, str] = {"int32": "int", "int64": "long", "float32": "float", "float64": "double"}

# The same for all types that a problem file's arrays may have and C++ has a name for.
OWN_TYPES: Mapping[str, str] = {
    **CXX_TYPES,
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
}
