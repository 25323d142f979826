"""y = a x + y in Numba. With pointers as types, each array is one parameter of the kernel."""

import re

from numba import cuda, types

PARAMETERS = types.void(types.CPointer(types.float32), types.CPointer(types.float32), types.float32, types.int32)


def axpy(y, x, a, n):
    """One element a thread."""
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]


def build(arch):
    """PTX for an architecture, and the kernel's name in it. Neither needs a GPU."""
    number = int(re.sub(r"\D", "", arch))
    ptx, _ = cuda.compile_ptx(axpy, PARAMETERS, cc=divmod(number, 10))
    return {"code": ptx, "entry": re.search(r"\.entry (\w+)", ptx)[1]}
