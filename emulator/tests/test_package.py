"""The package by itself: it imports nothing of kernelsweep, and the example of its README does what that says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from emulator_units import ROOT, runtime

FOLDER = ROOT / "emulator"


def test_the_example_of_the_readme_works_as_pasted(tmp_path: Path) -> None:
    told = (FOLDER / "README.md").read_text()
    kernel, example, printed, test = re.findall(r"```(?:cuda|python|text)\n(.*?)```", told, re.DOTALL)
    mended = kernel.replace(";\n    y[", ";\n    __syncthreads();\n    y[")
    shared = f'"], runtime=Path("{runtime()}"))'
    for source, code, expected in ((kernel, example, printed), (mended, example.replace('"])', shared), "global")):
        (tmp_path / "kernel.cu").write_text(source)
        (tmp_path / "test_example.py").write_text(test)
        (tmp_path / "example.py").write_text(code + '\nimport sys\nassert "kernelsweep" not in sys.modules\n')
        environment = {**os.environ, "PYTHONPATH": str(FOLDER), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        # The test imports the example, which prints.
        command = [sys.executable, "-m", "pytest", "-qs", "-p", "no:cacheprovider", "test_example.py"]
        tested = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert tested.stdout.lstrip().startswith(expected) and not tested.stderr, tested
        assert (tested.returncode == 0) == ("race" not in expected), tested.stdout
