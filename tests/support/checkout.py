"""The checkout that is tested, and copies of it to run Snakemake in."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def copy_project(folder: Path) -> Path:
    """A copy, under `folder`, of the checkout's files that git tracks or would track; without results."""
    listing = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    copy = folder / "project"
    for name in filter(None, listing.stdout.split("\0")):
        source = ROOT / name
        if source.is_file():  # A deleted file is still listed.
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, copy / name)
    # With the modules as Python has compiled them, which hold for sources of the same age. The others are half written.
    for folder in (ROOT / "workflow/scripts").rglob("__pycache__"):
        if (copy / folder.relative_to(ROOT)).parent.exists():
            shutil.copytree(folder, copy / folder.relative_to(ROOT), ignore=shutil.ignore_patterns("*.pyc.*"))
    return copy
