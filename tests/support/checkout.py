"""The checkout that is tested, and copies of it to run Snakemake in."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copy_project(folder: Path) -> Path:
    """A copy, under `folder`, of the checkout's files that git tracks or would track; without results.

    It has the library's modules as Python has compiled them here, which hold for sources of the same age. All files are
    copied by `cp`, in a quarter of Python's time.
    """
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [name for name in filter(None, listing.stdout.split("\0")) if (ROOT / name).is_file()]  # Or deleted.
    folders = [ROOT / "workflow/scripts", ROOT / "emulator/cuda_emulator"]
    compiled = [str(file.relative_to(ROOT)) for each in folders for file in each.rglob("__pycache__/*.pyc")]
    copy = folder / "project"
    copy.mkdir(parents=True)
    subprocess.run(["cp", "-p", "--parents", "-t", str(copy), *files, *compiled], cwd=ROOT, check=True)
    return copy
