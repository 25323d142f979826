"""Limits of growth with the sweep: the jobs, the files read while planning, and the memory for joining rows."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from support import made_up
from workflow_runs import snakemake

STUDIES, KERNELS = 2, 5

# The interpreter runs this first: it notes which kernels a process opens.
WATCH = """
import sys
def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".cu"):
        seen.append(str(arguments[0]))
seen = []
sys.addaudithook(hook)
import atexit
atexit.register(lambda: open("opened.txt", "a").write("".join(f"{path}\\n" for path in seen)))
"""


def test_a_plan_has_a_few_jobs_a_kernel_and_reads_each_kernel_four_times(tmp_path: Path) -> None:
    # Pins: a job a point; and a kernel's source that is read again by every job, or for every other kernel.
    project = made_up.make_project(tmp_path, STUDIES, KERNELS)
    (tmp_path / "sitecustomize.py").write_text(WATCH)
    run = snakemake(project, "all", "--dry-run", environment={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert run.returncode == 0, run.stdout
    stats = run.stdout.partition("\ntotal ")[0].rpartition("-------\n")[2]
    jobs = {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", stats, re.MULTILINE)}
    assert jobs["measure_on_emulator"] == STUDIES * KERNELS
    of_one = {name: count for name, count in jobs.items() if not name.endswith(("_kernel", "_on_emulator", "_chunk"))}
    assert set(of_one.values()) == {1, STUDIES}
    opened = Counter((project / "opened.txt").read_text().splitlines())
    assert len(opened) == STUDIES * KERNELS
    # Once for its header, its includes, its code, and its code as a recording notes it.
    assert max(opened.values()) <= 4
