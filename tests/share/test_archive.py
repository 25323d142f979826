"""An archive of results: complete, the same bytes for the same content, and its figures drawn again bit for bit."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from workflow_runs import FINISHED_STUDIES, snakemake

from kernelsweep.share.archive import DRAWING_RULES, archive, project_files, uncommitted


def unpack(archive: Path, folder: Path) -> Path:
    """The folder that the archive unpacks to."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    (unpacked,) = folder.iterdir()
    return unpacked


def visible_files(folder: Path) -> list[str]:
    """The names of the files below a folder, without Snakemake's own."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def commands(readme: str) -> list[list[str]]:
    """The commands that an archive's README has its reader type, with this environment in place of a fresh one's."""
    lines = re.findall(r"(?m)^    (.*)$", readme)
    run = [line.replace("pip install uv && uv run ", f"{sys.executable} -m ") for line in lines]
    assert len(run) == 2
    return [shlex.split(line) for line in run]


def test_an_archives_figures_can_be_drawn_again_bit_for_bit(finished: Path, tmp_path: Path) -> None:
    run = snakemake(finished, "archive")
    assert run.returncode == 0, run.stdout
    unpacked = unpack(finished / "results/archive/emulator.tar.gz", tmp_path / "unpacked")
    study = unpacked / "results/emulator/studies/warp_shuffle"
    drawn = visible_files(study)
    expected = {"table.tex", "correctness.svg", "correctness.png", "correctness_one_column.pdf"}
    assert expected <= set(drawn)
    assert (unpacked / "results/emulator/environment.json").is_file()
    # So that nothing is compared with itself.
    shutil.rmtree(study / "figures")
    judged = [unpacked / f"results/emulator/{name}" for name in ("claims.md", "claims.csv", "best.md", "best.json")]
    for path in (*study.glob("table*"), *judged):
        path.unlink()

    readme = (unpacked / "README.md").read_text()
    assert "measures nothing" in readme
    draw, compare = commands(readme)
    redrawn = subprocess.run(draw, cwd=unpacked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert redrawn.returncode == 0, redrawn.stdout
    studies = {f"publish_untimed_{name}" for name in FINISHED_STUDIES}
    assert set(re.findall(r"rule (\w+):", redrawn.stdout)) == {*DRAWING_RULES, *studies}
    assert visible_files(study) == drawn
    compared = subprocess.run(compare, cwd=unpacked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert (compared.returncode, compared.stdout) == (0, "")

    # And the check can fail: a figure that isn't the one that was archived is named.
    with (study / "figures/correctness.svg").open("a") as figure:
        figure.write("\n")
    compared = subprocess.run(compare, cwd=unpacked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert compared.returncode != 0 and "correctness.svg: FAILED" in compared.stdout


def test_the_same_content_gives_the_same_bytes_and_says_what_is_not_committed(tmp_path: Path) -> None:
    device = {"provenance": "measured on a GPU"}
    environment = {"device": device, "measured": "2026-10-01T12:00:00Z", "git_revision": "0c1a018"}
    packed = []
    for name, kept in (("one", "k.cu"), ("two", "k.cu"), ("three", "another.cu")):
        root = tmp_path / name
        for path, text in {
            "Snakefile": "rule all:\n",
            f"kernels/mine/{kept}": "a kernel",
            "workflow/scripts/__pycache__/x.pyc": "",
            "resources/recordings/another/measurements.csv.gz": "",
            "results/gpu/measurements.csv": "1\n",
            "results/gpu/samples/mine/k.csv": "2\n",
            "results/gpu/journal/mine/k.jsonl": "{}",
            "results/gpu/.verdict": "",
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
            os.utime(root / path, (len(packed), len(packed)))
        packed.append(archive(root, "gpu", {"studies": ["mine"]}, environment))
    assert packed[0] == packed[1] != packed[2]
    (tmp_path / "gpu.tar.gz").write_bytes(packed[0])
    unpacked = unpack(tmp_path / "gpu.tar.gz", tmp_path / "unpacked")
    assert sorted(path.relative_to(unpacked).as_posix() for path in unpacked.rglob("*") if path.is_file()) == [
        "README.md",
        "SHA256SUMS",
        "Snakefile",
        "archived/config.yaml",
        "configuration.yaml",
        "kernels/mine/k.cu",
        "results/gpu/measurements.csv",
        "results/gpu/samples/mine/k.csv",
    ]
    assert "measured at commit 0c1a018" in (unpacked / "README.md").read_text()
    assert "unknown: it was made outside a git repository" in (unpacked / "README.md").read_text()

    git = ["git", "-c", "user.name=me", "-c", "user.email=me@example.org", "-C", str(tmp_path / "one")]
    for arguments in (["init", "-q"], ["add", "Snakefile", "kernels"], ["commit", "-q", "-m", "As it was"]):
        subprocess.run([*git, *arguments], check=True)
    assert uncommitted(tmp_path / "one", project_files(tmp_path / "one", "gpu")) == []
    (tmp_path / "one/kernels/mine/k.cu").write_text("an edited kernel")
    (tmp_path / "one/kernels/mine/new.cu").write_text("a new one")
    assert uncommitted(tmp_path / "one", project_files(tmp_path / "one", "gpu")) == [
        "kernels/mine/k.cu",
        "kernels/mine/new.cu",
    ]
