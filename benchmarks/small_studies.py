"""How soon has a repository of many small studies its times? `all` of thirty made-up studies, two kernels each.

    uv run --extra gpu python benchmarks/small_studies.py                 # on a GPU, if there is one
    uv run python benchmarks/small_studies.py --platform emulator
    uv run python benchmarks/small_studies.py --mistakes                  # three studies that can't run

It prints the seconds to the first point and to the last one, and to the end of the run; of a GPU also how long it was
leased between the first point and the last, and the part of that in which kernels ran. With --mistakes, one study has a
mistake in its YAML, one in its problem's reference, and one in a kernel; the other 27 must have all of their results.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What the studies compute of an element and its right neighbour: in CUDA, and in NumPy.
FORMULAS = {
    "mean": ("0.5f * (a + b)", "0.5 * (a + b)"),
    "product": ("a * b", "a * b"),
    "distance": ("sqrtf(a * a + b * b)", "np.hypot(a, b)"),
    "decay": ("expf(-a * a) * b", "np.exp(-a * a) * b"),
    "wave": ("sinf(a) + cosf(b)", "np.sin(a) + np.cos(b)"),
}
KERNEL = """\
__global__ void {kernel}(float *y, const float *x, int n)
{{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {{
        const float a = x[i], b = x[i + 1 < n ? i + 1 : 0];
        y[i] = {formula};
    }}
}}
"""
PROBLEM = """\
import numpy as np


def inputs(random, n):
    return {{"x": random.standard_normal(n, np.float32)}}


def outputs(n):
    return {{"y": (n, np.float32)}}


def reference(x):
    a = np.float64(x)
    b = np.roll(a, -1)
    return {{"y": {formula}}}


def error_bound(n):
    return {{"y": 1e-5}}


def work(n):
    return {{"bytes": 8 * n}}
"""
STUDY = """\
title: {name}
problem: kernels/{name}/problem.py
axes: {{n: [2^16, 2^20, {largest}], block: [64, 128, 256, 512]}}
platforms: {{emulator: {{axes: {{n: [1000, 4099]}}}}}}
kernels:
  - {{name: simple, launches: [{{grid: n / block, block: block, arguments: [y, x, n]}}]}}
  - {{name: fewer_blocks, launches: [{{grid: n / (8 * block), block: block, arguments: [y, x, n]}}]}}
"""


def make_studies(folder: Path, count: int, largest: str, has_mistakes: bool) -> list[str]:
    """Write a repository of `count` studies. Returns their names; the first three are wrong if `has_mistakes`."""
    (folder / "config/studies").mkdir(parents=True)
    names = []
    for number in range(count):
        formula = list(FORMULAS)[number % len(FORMULAS)]
        name, (in_cuda, in_numpy) = f"{formula}_{number}", FORMULAS[formula]
        names.append(name)
        (folder / "kernels" / name).mkdir(parents=True)
        study, problem = STUDY.format(name=name, largest=largest), PROBLEM.format(formula=in_numpy)
        if has_mistakes and number == 0:
            study = study.replace("arguments:", "argument:", 1)
        if has_mistakes and number == 1:
            problem = problem.replace("np.roll(a, -1)", "np.rolled(a, -1)")
        if has_mistakes and number == 2:
            in_cuda = f"{in_cuda} +"
        (folder / f"config/studies/{name}.yaml").write_text(study)
        (folder / f"kernels/{name}/problem.py").write_text(problem)
        for kernel in ("simple", "fewer_blocks"):
            text = KERNEL.format(kernel=kernel, formula=in_cuda)
            (folder / f"kernels/{name}/{kernel}.cu").write_text(text)
    return names


def run(
    folder: Path, platform: str, cores: int, target: str = "all", *config: str
) -> tuple[float, float, float, int, str]:
    """Seconds until the first and the last point of a target and until its end, its exit status, and its output.

    config  further settings, each as for --config
    """
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "-d", str(folder)]
    command += ["--cores", str(cores), "--quiet", "rules", "host"]
    command += ["--config", f"platform={platform}", *config, "--", target]
    started, first, last, size = time.time(), 0.0, 0.0, 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            time.sleep(0.05)
            found = sum(path.stat().st_size for path in folder.glob("results/*/journal/*/*.jsonl"))
            if found > size:
                size, last = found, time.time() - started
                first = first or last
        end = time.time() - started
        output.seek(0)
        return first, last, end, process.returncode, output.read()


def leased_seconds(folder: Path) -> float:
    """How long the jobs kept the GPU, by what their logs say."""
    seconds = 0.0
    for log in folder.glob("results/*/logs/measure_kernel/*/*.log"):
        text = log.read_text()
        starts, ends = (re.findall(rf"{word} (\d\d\d\d-\S+)$", text, re.MULTILINE) for word in ("from", "until"))
        pairs = zip(map(datetime.fromisoformat, starts), map(datetime.fromisoformat, ends), strict=True)
        seconds += sum((end - start).total_seconds() for start, end in pairs)
    return seconds


def main() -> None:
    """Make the repository, run `all`, and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--studies", type=int, default=30)
    parser.add_argument("--largest", default="2^22", help="the studies' largest n")
    parser.add_argument("--platform", default="auto")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--mistakes", action="store_true", help="three studies that can't run")
    parser.add_argument("--folder", type=Path, help="keep the repository here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "own"
        names = make_studies(folder, options.studies, options.largest, options.mistakes)
        first, last, end, status, output = run(folder, options.platform, options.cores)
        print(output[-4000:] if options.mistakes or status else "")
        rows = [row for file in folder.glob("results/*/points/*/*.csv") for row in csv.DictReader(file.open())]
        right = {name: [row["status"] for row in rows if row["study"] == name].count("ok") for name in names}
        found = {"first_point": first, "last_point": last, "end": end}
        if leased := leased_seconds(folder):
            busy = sum(float(row.get("busy_seconds") or 0) for row in rows)
            found |= {"leased": leased, "leased_share": leased / (last - first), "busy": busy}
            found |= {"in_visits": sum(float(row.get("seconds") or 0) for row in rows)}
        print(json.dumps({name: round(value, 2) for name, value in found.items()}))
        print(f"exit status {status}; {sum(right.values())} of {len(rows)} points right; none of: ", end="")
        print(", ".join(name for name, count in right.items() if not count) or "no study")


if __name__ == "__main__":
    main()
