"""Read compute-sanitizer's log: its findings, their counts, and whether the tool ended normally.

A record is a line that starts with nine equals signs, and the lines that are indented behind such signs:

    ========= Invalid __global__ write of size 4 bytes
    =========     at unrolled<int>(int *)+0x50 in unrolled.cu:34
    =========     by thread (0,0,0) in block (0,0,0)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

_LINE = re.compile(r"\s*={8,9}(?!=) ?(.*)")
_BACKTRACE = re.compile(r"Saved host backtrace|Host Frame|Device Frame")
_SEVERITY = re.compile(r"(error|warning|info|information|fatal)\s*:\s*", re.IGNORECASE)
_RACE = re.compile(r"Race reported|.*deadlock", re.IGNORECASE)
_ERROR_SUMMARY = re.compile(r"ERROR SUMMARY: ([\d,]+) errors?\b(?! were)")
_RACE_SUMMARY = re.compile(r"RACECHECK SUMMARY: [\d,]+ hazards? displayed \(([\d,]+) errors?, ([\d,]+) warnings?\)")
_SUMMARY = re.compile(r"[A-Z]+ SUMMARY:")
_TROUBLE = re.compile(r"Internal Sanitizer Error|Target application returned an error|Unable to |Failed to ")
# The findings that have a single line.
_KNOWN = re.compile(r"Invalid |Uninitialized |Barrier error|Program hit |Leaked |Malloc/Free |Host API |Unused memory")

_PLACE = re.compile(r" in (\S+:\d+)")
# Our own kernels, of compare.ptx and within.ptx, have no lines. They read results, also those that were left out.
_COMPARISON = re.compile(r"at (?:compare|within)\+0x[\da-f]+")
_UNWRITTEN = "the kernel has not written all of its results: this was read as they were compared"
_ACCESS = re.compile(r"(\w+) access at (.+?)(?= \[\d+ hazards?\]| and \w+ access at |$)")


@dataclass(frozen=True)
class Finding:
    """A finding at one place of the code, in any number of threads.

    severity  "error" or "warning"
    kind      the finding without addresses, such as "Invalid __global__ write of size 4 bytes"
    location  file:line of the kernel; empty if the binary holds no line numbers
    count     the number of reports in the log, whose print limit may hide more
    message   the first report, which names the function
    """

    severity: str
    kind: str
    location: str
    count: int
    message: str


@dataclass(frozen=True)
class Log:
    """The content of a log.

    errors, warnings  the counts of the log's summary, including reports that were not printed
    findings          the distinct findings, in the order of their first reports
    troubles          reasons not to trust the log: failures of the tool or the process, a missing summary
    """

    errors: int
    warnings: int
    findings: tuple[Finding, ...]
    troubles: tuple[str, ...]


def parse_log(text: str) -> Log:
    """Parse the output of compute-sanitizer and of the process under it, whose lines are skipped."""
    findings: dict[tuple[str, ...], Finding] = {}
    troubles: list[str] = []
    errors: int | None = None
    warnings = 0
    for record in _records(text):
        joined = " ".join(record)
        if summary := _RACE_SUMMARY.match(joined):
            errors = (errors or 0) + _number(summary[1])
            warnings += _number(summary[2])
        elif summary := _ERROR_SUMMARY.match(joined):
            errors = (errors or 0) + _number(summary[1])
        elif joined.startswith("COMPUTE-SANITIZER") or _SUMMARY.match(joined):
            continue
        elif trouble := _trouble(record):
            troubles.append(trouble)
        elif finding := _finding(record):
            key = (finding.severity, finding.kind, finding.location)
            earlier = findings.get(key)
            findings[key] = replace(earlier, count=earlier.count + 1) if earlier else finding
    all_findings = tuple(findings.values())
    races = any(_RACE.match(finding.kind) for finding in all_findings)
    if not races:  # Only racecheck's summary counts warnings.
        warnings += sum(finding.count for finding in all_findings if finding.severity == "warning")
    if errors is None:
        troubles.append("the log has no summary: compute-sanitizer didn't end normally")
    elif errors == 0 and any(finding.severity == "error" for finding in all_findings):
        first = next(finding for finding in all_findings if finding.severity == "error")
        troubles.append(f"the log's summary counts no error, but the log has one: {first.message}")
    return Log(errors or 0, warnings, all_findings, tuple(dict.fromkeys(troubles)))


def _records(text: str) -> list[list[str]]:
    records: list[list[str]] = []
    goes_on = False
    for line in text.splitlines():
        match = _LINE.match(line)
        if not match:
            continue
        content = match[1]
        if not content.strip():
            goes_on = False
        elif goes_on and content[0].isspace():
            records[-1].append(content.strip())
        else:
            records.append([content.strip()])
            goes_on = True
    return records


def _number(text: str) -> int:
    return int(text.replace(",", ""))


def _trouble(record: Sequence[str]) -> str | None:
    """The failure of the tool or the application that the record reports, or None."""
    severity = _SEVERITY.match(record[0])
    text = record[0][severity.end() :] if severity else record[0]
    if severity and severity[1].lower() in ("error", "fatal") and not _RACE.match(text):
        return " ".join([text, *record[1:]])
    return " ".join(record) if _TROUBLE.match(record[0]) else None


def _finding(record: Sequence[str]) -> Finding | None:
    """The record as a finding, or None if it is only information."""
    prefix = _SEVERITY.match(record[0])
    severity = prefix[1].lower() if prefix else "error"
    if severity not in ("error", "warning") or not (prefix or len(record) > 1 or _KNOWN.match(record[0])):
        return None
    head = record[0][prefix.end() :] if prefix else record[0]
    shown = [head, *record[1:]]
    report = [line for number, line in enumerate(shown) if not any(map(_BACKTRACE.match, shown[: number + 1]))]
    accesses = _ACCESS.findall(" ".join(report)) if head.startswith("Race reported") else []
    kind = re.sub(r"0x[0-9a-fA-F]+", "0x...", head)
    if accesses:
        kind = f"Race reported between {' and '.join(dict.fromkeys(access for access, _ in accesses))} access"
    # The last device frame is the kernel's; without frames, the kernel is what the finding is reported at.
    frames = [line for line in record if line.startswith("Device Frame:")]
    place = _PLACE.search(frames[-1] if frames else accesses[0][1] if accesses else " ".join(report))
    if head.startswith("Uninitialized") and any(map(_COMPARISON.fullmatch, report)):
        report = [head.rstrip(" ."), _UNWRITTEN]
    return Finding(severity, kind.rstrip(" :."), place[1] if place else "", 1, "; ".join(report))
