"""`kernelsweep watch` compares after each saved file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from checkout import ROOT

# In place of Snakemake: its arguments are printed.
WATCH = (
    "import sys; from kernelsweep.project import command;"
    "command._run_snakemake = lambda words: sys.exit(print(*words, flush=True)); command.main()"
)


def test_each_saved_source_is_compared_until_ctrl_c_and_results_are_none(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
    (tmp_path / "results").mkdir()
    command = [sys.executable, "-c", WATCH, "watch", "axpy"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as run:
        assert run.stdout
        for saved in ("kernel.cu", "problem.py", "results/sweep.py"):
            assert run.stdout.readline() == "compare --config studies=[axpy]\n"
            assert run.stdout.readline() == "Waiting for a saved file. Ctrl-C ends it.\n"
            (tmp_path / saved).write_text("")
        time.sleep(0.6)  # three looks
        run.send_signal(signal.SIGINT)
        assert run.stdout.read() == ""
    assert run.returncode == 1
