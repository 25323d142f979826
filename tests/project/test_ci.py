"""In CI: the action's steps, as GitHub runs them, and pytest's plug-in, in a repository with a planted mistake."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkout import ROOT
from workflow_runs import edit, share_builds

# One process makes the results that the tests share.
pytestmark = pytest.mark.xdist_group("ci")

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
LIBRARY = str(ROOT / "workflow/scripts")

# In place of Python's venv: the installed command is the checkout's. And of GitHub's command.
RUN = f"PYTHONPATH={LIBRARY} exec {sys.executable} -m kernelsweep.project.command"
PYTHON3 = f"""#!/bin/bash
[ "$1 $2" = "-m venv" ] || exit 9
mkdir -p "$3/bin"
printf '#!/bin/bash\\n[ -f "$3/pyproject.toml" ]' > "$3/bin/pip"
printf '#!/bin/bash\\n{RUN} "$@"' > "$3/bin/kernelsweep"
chmod +x "$3"/bin/*
"""
GH = '#!/bin/bash\necho "$@" > "$RUNNER_TEMP/gh"\n'


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose folder `gpu` has studies, with mistakes in two kernels and one in another study's file."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(
        ROOT / "examples/own-repository", folder / "gpu", ignore=shutil.ignore_patterns("results", ".snakemake")
    )
    edit(folder / "gpu/kernels/axpy/axpy.cu", "i < n", "i <= n")
    edit(folder / "gpu/config/studies/languages.yaml", "axes:", "axis:")
    kernel = folder / "gpu/kernels/total/block_sums.cu"  # As `kernelsweep new total ../application.cu` leaves it.
    shutil.move(kernel, folder / "gpu/application.cu")
    edit(folder / "gpu/application.cu", "= shared[0]", "= -shared[0]")
    kernel.write_text('#include "../../application.cu"\n')
    share_builds(folder / "gpu")
    return folder


def run_action(repository: Path, inputs: dict[str, str], files: Path) -> tuple[int, str]:
    """The exit status and the output of the action's steps. `files` gets what they write."""
    values = {f"inputs.{name}": inputs.get(name, one["default"]) for name, one in ACTION["inputs"].items()}
    values |= {"github.token": "token", "github.event.pull_request.number": "7"}

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], text)

    (files / "bin").mkdir(parents=True)
    for name, text in {"python3": PYTHON3, "gh": GH}.items():
        (files / "bin" / name).write_text(text)
        (files / "bin" / name).chmod(0o755)
    environment = {"GITHUB_ACTIONS": "true", "GITHUB_WORKSPACE": str(repository), "GITHUB_ACTION_PATH": str(ROOT)}
    environment |= {"RUNNER_TEMP": str(files), "GITHUB_STEP_SUMMARY": str(files / "summary.md")}
    environment |= {"PATH": f"{files}/bin:{os.environ['PATH']}"}
    status, output = 0, ""
    for step in ACTION["runs"]["steps"]:
        if inputs.get("comment") != "true" if "if" in step else status:
            continue
        own = {name: filled(str(value)) for name, value in step.get("env", {}).items()}
        folder = repository / filled(step.get("working-directory", "."))
        command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", filled(step["run"])]
        ran = subprocess.run(
            command, cwd=folder, env={**os.environ, **environment, **own}, capture_output=True, text=True
        )
        status, output = status or ran.returncode, output + ran.stdout + ran.stderr
    return status, output


def test_the_action_annotates_the_lines_of_mistakes(repository: Path, tmp_path: Path) -> None:
    inputs = {"studies": "axpy total languages", "folder": "gpu", "comment": "true"}
    status, output = run_action(repository, inputs, tmp_path)
    # Pins: one mistake in a study's file hid those in the kernels of all studies; wrong results at line 1 of a file
    # that only includes the kernel's, once more for each way that their numbers are written.
    line, wrong, of_study = re.findall("^::error .*", output, re.MULTILINE)
    assert status == 1 and of_study.startswith("::error file=gpu/config/studies/languages.yaml,line=6,title=mistake::")
    assert line.startswith("::error file=gpu/kernels/axpy/axpy.cu,line=5,title=out of bounds::axpy/axpy: ")
    assert "reads x[4]" in line and line.endswith("(6 points)")
    assert wrong.startswith("::error file=gpu/application.cu,line=3,title=wrong result::total/block_sums: at ")
    assert wrong.endswith("(4 points)")  # An even number of launches is right.
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("# kernelsweep: 3 mistakes\n") and "\n| axpy    |    6 |              6 |" in summary
    assert summary.count("reads x[4]") == 1 and "\n## " not in summary  # Pins: each mistake twice.
    assert (repository / "gpu/results/emulator/ci.md").read_text() == summary
    assert (tmp_path / "gh").read_text().startswith("pr comment 7 --body-file results/emulator/ci.md ")


def test_pytest_checks_the_studies_a_test_for_each_kernel(repository: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-p", "kernelsweep.project.pytest_plugin", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": LIBRARY, "GITHUB_ACTIONS": "false"}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # Others' plugins take a second.
    checks = ["--kernelsweep", "-k", "axpy or languages", "--continue-on-collection-errors"]
    told, without = (
        subprocess.run([*command, *options], cwd=repository / "gpu", env=environment, capture_output=True, text=True)
        for options in (checks, [])
    )
    lines = told.stdout.splitlines()
    assert re.search("^1 failed, 1 passed, .* 1 error", lines[-1].strip("= ")) and "Traceback" not in told.stdout
    assert [line for line in lines if line.startswith("FAILED config/studies/axpy.yaml::axpy - ")]
    assert "kernels/axpy/axpy.cu:5: error: out of bounds: axpy/axpy: at n 4, block 64" in told.stdout
    assert "\nERROR config/studies/languages.yaml" in told.stdout
    assert "no tests ran" in without.stdout


def test_a_right_repository_passes(repository: Path, tmp_path: Path) -> None:
    edit(repository / "gpu/kernels/axpy/axpy.cu", "i <= n", "i < n")
    edit(repository / "gpu/config/studies/languages.yaml", "axis:", "axes:")
    status, output = run_action(repository, {"studies": "axpy", "folder": "gpu"}, tmp_path)
    assert status == 0 and "::error" not in output
    assert (tmp_path / "summary.md").read_text().startswith("# kernelsweep: all is right\n")
