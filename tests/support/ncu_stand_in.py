"""Plays Nsight Compute: runs the command to profile on the emulator, and answers or fails as ncu does.

The environment variable NCU_PLAYS names what it plays, for the kernel in NCU_KERNEL or for all: nothing in particular,
or one of the failures below. Its numbers are made up: every counter of the n-th launch is n.
"""

from __future__ import annotations

import csv
import json
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

WARNING = (
    "==WARNING== Note: Running with unmodified GPU clocks. If not controlled otherwise, results may be inconsistent."
)
# ncu's messages, which it prints before its captures or instead of them.
ERRORS = {
    "no permission": "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance "
    "Counters on the target device 0. For instructions on enabling permissions and to get more information see "
    "https://developer.nvidia.com/ERR_NVGPUCTRPERM",
    "unknown section": "==ERROR== Option '--section nonsense' did not match any section.\n==ERROR== Use "
    "--list-sections to see the list of available sections.",
}
IDENTITY = ("ID", "Kernel Name", "Block Size", "Grid Size")


def main(words: list[str]) -> None:
    if words == ["--version"]:
        print("NVIDIA (R) Nsight Compute Command Line Profiler\nVersion 2025.3.1.0 (build 36398880) (public-release)")
    elif words[0] == "--import":
        print_report(json.loads(Path(words[1]).read_text(encoding="utf-8")))
    else:
        observe(words)


def observe(words: list[str]) -> None:
    """Run the worker, and write the captures to the file that the options name."""
    options = [word for word in words if word.startswith("--")]
    observed = words[words.index(sys.executable) :]
    requests, answers = Path(observed[-3]), Path(observed[-2])
    plays, kernel = os.environ.get("NCU_PLAYS", ""), os.environ.get("NCU_KERNEL")
    if kernel and pickle.loads(requests.read_bytes()).task.kernel != kernel:  # To read them takes a third of a second.
        plays = ""
    print(WARNING, flush=True)
    if plays in ERRORS:
        print(ERRORS[plays])
        sys.exit(1)
    status = subprocess.run(observed).returncode
    if status != 0:
        print(f"==ERROR== The application returned an error code ({status}).")
    answered = (
        [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()] if answers.exists() else []
    )
    launches = [
        (launch["variant"], launch["grid"], launch["block"]) for answer in answered for launch in answer["launches"]
    ]
    if plays == "another kernel":
        launches[0] = ("fill<int>", *launches[0][1:])
    if plays == "nothing captured" or not launches:
        print("==WARNING== No kernels were profiled.")
        sys.exit(status)
    metrics = (
        next(option for option in options if option.startswith("--metrics=")).removeprefix("--metrics=").split(",")
    )
    report = {"plays": plays, "metrics": metrics, "launches": launches, "options": options}
    path = next(option for option in options if option.startswith("--export=")).removeprefix("--export=")
    Path(f"{path}.ncu-rep").write_text(json.dumps(report), encoding="utf-8")
    sys.exit(status)


def print_report(report: dict[str, Any]) -> None:
    """The report as ncu's CSV: columns, units, then a line a launch."""
    units = base_units()
    if report["plays"] == "a unit changed":
        units["gpu__time_duration.sum"] = "us"
    metrics = report["metrics"]
    out = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
    out.writerow([*IDENTITY, *metrics])
    out.writerow([*[""] * len(IDENTITY), *(units.get(name, "") for name in metrics)])
    for number, (variant, grid, block) in enumerate(report["launches"], start=1):
        function = re.sub(r"\b([0-9]+)u\b", r"(unsigned int)\1", variant)
        name = f"void {function}(T1 *, T1 *, unsigned long)"
        values = [digits(number * 1000)] * len(metrics)
        out.writerow([number - 1, name, str(tuple(block)), str(tuple(grid)), *values])


def digits(value: int) -> str:
    """A number in the digits of the locale that the process was given."""
    return f"{value}.000000" if os.environ.get("LC_ALL") == "C" else f"{value:,}"


def base_units() -> dict[str, str]:
    """Each counter's unit, as the shipped configuration says it is."""
    table = yaml.safe_load((Path(os.environ["NCU_ROOT"]) / "config/metrics.yaml").read_text())["metrics"]
    return {
        name: unit
        for entry in table.values()
        for name, unit in re.findall(r"(\S+__\S+)(?: \[([^\]]+)\])?", entry["ncu"])
    }


main(sys.argv[1:])
