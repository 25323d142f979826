"""compute-sanitizer's results: one file a kernel and tool, and the summary of all with the expected findings apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from kernelsweep.json_files import read_json
from kernelsweep.measure.proof_rows import known_why
from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.observe.sanitizer.log import Finding
from kernelsweep.results import NOT_CHECKED, Row
from kernelsweep.sweep.kernels.source import KernelSource

# sanitizer.csv, one row a kernel and tool; points is the number of points that ran.
SANITIZER_COLUMNS = ("study", "kernel", "tool", "status", "errors", "warnings", "points", "message")

# Further findings of one kernel and tool are counted but not listed: its variants tend to have the same one.
_LISTED = 5


@dataclass(frozen=True)
class Result:
    """One kernel under one tool.

    status               clean, findings, failed (the tool, a point or the build) or skipped (no point can run)
    reason               why it failed or was skipped, or a failure besides the findings
    undefined_behaviour  as declared in the kernel's header, or None; if declared, findings are expected
    version              compute-sanitizer's
    """

    study: str
    kernel: str
    tool: str
    status: str
    reason: str
    undefined_behaviour: str | None
    version: str = ""
    errors: int = 0
    warnings: int = 0
    points: int = 0
    findings: tuple[Finding, ...] = ()

    @property
    def name(self) -> str:
        """The study and the kernel."""
        return f"{self.study}/{self.kernel}"

    @property
    def expected(self) -> bool:
        """Whether there are findings, and the kernel declares undefined behaviour."""
        return self.status == "findings" and self.undefined_behaviour is not None


def write_result(path: Path, result: Result) -> None:
    """Write a result as JSON."""
    path.write_text(json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8")


def read_result(path: Path) -> Result:
    """Read a result back."""
    content = read_json(path)
    return Result(**{**content, "findings": tuple(Finding(**finding) for finding in content["findings"])})


def unexpected(results: Iterable[Result]) -> list[Result]:
    """The results with which the run must fail."""
    return [result for result in results if result.status not in ("clean", "skipped") and not result.expected]


def rows(results: Iterable[Result]) -> list[Row]:
    """The rows of sanitizer.csv."""
    return [
        {**{name: vars(result).get(name) for name in SANITIZER_COLUMNS}, "message": _message(result)}
        for result in results
    ]


# The check of proofs.csv that each tool makes.
_CHECKS = {
    "memcheck": "bounds",
    "racecheck": "races",
    "synccheck": "barriers",
    "initcheck": "uninitialised",
}


def proof_row(result: Result, kernel: KernelSource) -> Row:
    """A kernel's row of proofs.csv under a tool, without the source's hash. A tool that failed has checked nothing.

    Of the findings, it has the first that the study doesn't acknowledge.
    """
    check, expected = _CHECKS[result.tool], result.undefined_behaviour or ""
    finding, message = {"clean": ("", ""), "findings": ("findings", result.reason)}.get(
        result.status, (NOT_CHECKED, result.reason)
    )
    if result.findings and finding != NOT_CHECKED:
        told = [f"{one.message} ({one.location})" if one.location else one.message for one in result.findings]
        known = [known_why(kernel, check, each) for each in told]
        first = known.index("") if "" in known else 0
        finding, message, expected = result.findings[first].kind, told[first], known[first] or expected
    return {
        "study": result.study,
        "kernel": result.kernel,
        "check": check,
        "tool": result.tool,
        "points": result.points,
        "finding": finding,
        "message": " ".join(message.split()),
        "expected": expected,
    }


def _message(result: Result) -> str:
    parts = [f"expected: {result.undefined_behaviour}"] if result.expected else []
    parts += [result.reason] if result.reason else []
    parts += [f"{finding.message} (×{finding.count})" for finding in result.findings[:_LISTED]]
    return "; ".join(parts)


def summary(results: Sequence[Result], device: str) -> str:
    """The summary as Markdown: a row a kernel with a column a tool, then what each tool says that was not clean."""
    kernels: dict[str, dict[str, Result]] = {}
    for result in results:
        kernels.setdefault(result.name, {})[result.tool] = result
    versions = " and ".join(sorted({result.version for result in results if result.version}))
    lines = [f"# {' '.join(filter(None, ['compute-sanitizer', versions]))}: {len(kernels)} kernels on {device}", ""]
    lines += [f"| study | kernel | {' | '.join(TOOLS)} |", f"|---|---|{'---|' * len(TOOLS)}"]
    for name, by_tool in kernels.items():
        cells = [_cell(by_tool[tool]) if tool in by_tool else "" for tool in TOOLS]
        lines.append(f"| {' | '.join([*name.split('/'), *cells])} |")
    lines += ["", f"Points run: {sum(result.points for result in results)}.", ""]
    lines += [f"- {result.name}, {result.tool}: {_message(result)}" for result in results if result.status != "clean"]
    if not unexpected(results):
        lines += ["", "No unexpected finding."]
    return "\n".join(lines).rstrip() + "\n"


def _cell(result: Result) -> str:
    counts = [
        f"{count} {name}{'s' * (count != 1)}"
        for count, name in ((result.errors, "error"), (result.warnings, "warning"))
        if count
    ]
    words = {"findings": [], "failed": ["**failed**"]}.get(result.status, [result.status])
    return ", ".join([*words, *counts]) + (" (expected)" if result.expected else "")
