"""What one of compute-sanitizer's tools says of a kernel, as a row of proofs.csv."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.analysis.proofs import TOOL_FAILED
from kernelsweep.measure.proof_rows import known_why
from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.observe.sanitizer.log import Finding
from kernelsweep.results import NOT_CHECKED, Row
from kernelsweep.sweep.kernels.source import KernelSource


def proof_row(
    kernel: KernelSource, tool: str, status: str, reason: str, points: int = 0, findings: Sequence[Finding] = ()
) -> Row:
    """A kernel's row under a tool, without study and source. A tool that failed has checked nothing.

    status  as of compute_sanitizer.run_status(), or "skipped" where no point can run; `reason` follows from it
    points  the number of points that ran

    Of the findings, it has the first that the study doesn't acknowledge.
    """
    check, expected = TOOLS[tool], kernel.undefined_behaviour or ""
    finding, message = {
        "clean": ("", ""),
        "findings": ("findings", reason),
        "failed": (NOT_CHECKED, f"{TOOL_FAILED}{reason}"),
        "skipped": (NOT_CHECKED, reason),
    }[status]
    if findings and finding != NOT_CHECKED:
        told = [f"{one.message} ({one.location})" if one.location else one.message for one in findings]
        known = [known_why(kernel, check, each) for each in told]
        first = known.index("") if "" in known else 0
        finding, message, expected = findings[first].kind, told[first], known[first] or expected
    return {
        "check": check,
        "tool": tool,
        "points": points,
        "finding": finding,
        "message": " ".join(message.split()),
        "expected": expected,
    }
