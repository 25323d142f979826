"""y = a x + y in Triton: four elements per thread."""

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TYPES = {"y": "*fp32", "x": "*fp32", "a": "fp32", "n": "i32", "ELEMENTS": "constexpr"}


@triton.jit
def axpy(y, x, a, n, ELEMENTS: tl.constexpr):
    """The elements of one block."""
    at = tl.program_id(0) * ELEMENTS + tl.arange(0, ELEMENTS)
    inside = at < n
    tl.store(y + at, a * tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


def build(arch, block):
    """A cubin for an architecture and a number of threads. Triton adds two pointers to the kernel's parameters."""
    target = GPUTarget("cuda", int("".join(filter(str.isdigit, arch))), 32)
    source = ASTSource(axpy, TYPES, {"ELEMENTS": 4 * block})
    made = triton.compile(source, target=target, options={"num_warps": block // 32})
    return {"code": made.asm["cubin"], "entry": made.metadata.name, "shared": made.metadata.shared}
