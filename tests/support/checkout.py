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
            shutil.copy(source, copy / name)
    return copy
