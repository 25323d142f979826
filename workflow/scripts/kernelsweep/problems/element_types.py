"""The element types that C++ has a name for: NumPy's name for each, and C++'s as compilers print it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

# long has 64 bits on every system that CUDA supports but Windows.
CXX_TYPES: Mapping[str, str] = {
    "int32": "int",
    "int64": "long",
    "float32": "float",
    "float64": "double",
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

# The bytes of an element.
ITEM_SIZES: Mapping[str, int] = {name: 2 if name == "bfloat16" else int(np.dtype(name).itemsize) for name in CXX_TYPES}
