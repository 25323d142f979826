"""An archive of a platform's results, from which the same tables and figures can be drawn again, byte for byte.

It holds the project's files as they are, so that what draws is what drew; the results; the configuration as it was
resolved; a Snakemake profile that draws and doesn't measure; and the checksum of every file.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import platform as host
import subprocess
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml

from kernelsweep.measure.environment import git_revision, package_versions
from kernelsweep.platforms.names import EMULATOR, is_recording, recording_folder

# What a run reads of the project. The README's place is taken by the archive's own.
PROJECT = (
    "CITATION.cff",
    "LICENSE",
    "Snakefile",
    "config",
    "envs",
    "kernels",
    "pyproject.toml",
    "resources/published",
    "workflow",
)
# Of the results: what only a rerun on the same machine needs, and what Nsight Compute's window shows.
LEFT_OUT = ("journal", "logs", "profiles")
# The rules that draw, and judge; with no other allowed, nothing can be measured instead.
DRAWING_RULES = ("redraw", "make_table", "draw_figures", "judge_claims", "find_best")

# Those whose versions could change what is drawn.
DRAWING_PACKAGES = ("snakemake", "numpy", "pandas", "matplotlib", "seaborn")

CONFIGURATION, PROFILE, CHECKSUMS, README = "configuration.yaml", "archived/config.yaml", "SHA256SUMS", "README.md"

# 1980, the earliest date that every archive format can hold: a file's own would make each archive another.
DATE = 315532800


def project_files(root: Path, platform: str) -> list[str]:
    """The project's files that an archive of a platform's results has, relative to `root`, sorted."""
    recording = [recording_folder(platform)] if is_recording(platform) else []
    return sorted(file.relative_to(root).as_posix() for name in (*PROJECT, *recording) for file in _files(root / name))


def result_files(root: Path, platform: str) -> list[str]:
    """The files that it has of the results, relative to `root`, sorted."""
    results = root / "results" / platform
    made = [file for file in _files(results) if not {*file.relative_to(results).parts[:-1]} & {*LEFT_OUT}]
    return sorted(file.relative_to(root).as_posix() for file in made)


def _files(path: Path) -> list[Path]:
    """A file, or the files below a folder but for hidden ones and Python's caches."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    hidden = (".", "__pycache__")
    found = (file for file in path.rglob("*") if file.is_file())
    return [file for file in found if not any(part.startswith(hidden) for part in file.relative_to(path).parts)]


def content_hash(root: Path, files: Iterable[str]) -> str:
    """A hash of the files' names and contents, by which a run sees that an archive is out of date."""
    digest = hashlib.sha256()
    for name in files:
        digest.update(f"{name}\0".encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return digest.hexdigest()


def archive(root: Path, platform: str, configuration: Mapping[str, Any], environment: Mapping[str, Any]) -> bytes:
    """The archive of a platform's results: a .tar.gz of the same bytes for the same content.

    configuration  the resolved one, of the run that made the results
    environment    environment.json
    """
    names = [*project_files(root, platform), *result_files(root, platform)]
    files = {name: (root / name).read_bytes() for name in names}
    files[CONFIGURATION] = yaml.safe_dump(dict(configuration), allow_unicode=True).encode()
    files[PROFILE] = _profile(platform).encode()
    files[README] = _readme(platform, environment, uncommitted(root, files)).encode()
    sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    files[CHECKSUMS] = "".join(sums).encode()
    return _packed(files, f"kernelsweep-{platform.replace('/', '-')}")


def _packed(files: Mapping[str, bytes], folder: str) -> bytes:
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{folder}/{name}")
            member.size, member.mtime, member.mode = len(content), DATE, 0o644
            tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _profile(platform: str) -> str:
    """The Snakemake profile that draws again: every table and figure, whatever is there, and nothing else.

    The live platform of a GPU can't be named on a machine without it; the rule redraw finds its results anyhow.
    """
    return yaml.safe_dump(
        {
            "cores": 1,
            "configfile": CONFIGURATION,
            "config": [f"platform={platform if is_recording(platform) else EMULATOR}", "profile=false"],
            "forceall": True,
            "allowed-rules": list(DRAWING_RULES),
        }
    )


def uncommitted(root: Path, files: Iterable[str]) -> list[str] | None:
    """Those of the files that differ from the commit that is checked out, or aren't in it; None outside git."""
    if not (root / ".git").exists():  # or git would answer of a repository around this folder
        return None
    try:
        run = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=all", "-z", "--no-renames"],
            cwd=root,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    changed = {entry[3:] for entry in run.stdout.split("\0") if entry}
    return sorted(changed & set(files))


def _readme(platform: str, environment: Mapping[str, Any], changed: list[str] | None) -> str:
    device = environment["device"]
    packages = ", ".join(f"{name} {found}" for name, found in package_versions(DRAWING_PACKAGES).items())
    revision = (git_revision() or "unknown").removesuffix("-dirty")
    state = "The project's files are those of this commit."
    if changed is None:
        state = "Whether the files are those of a commit is unknown: they were not in a git repository."
    elif changed:
        state = "These differ from the commit, or are not in it, and are here as they were used:\n\n" + "\n".join(
            f"- `{name}`" for name in changed
        )
    return f"""# kernelsweep: results of {platform}

{device["provenance"][:1].upper()}{device["provenance"][1:]}; {environment["measured"]}.

In `results/{platform}/`: `measurements.csv` has one row a point, `samples/` (where points were measured here) one a
sample, `environment.json` what they were made with, and `studies/` the tables and figures. `{CONFIGURATION}` is the
configuration as it was resolved; `kernels/`, `config/`, `workflow/` and `resources/` are the project's files.

## Draw the tables and figures again

On a machine with Python {host.python_version_tuple()[0]}.{host.python_version_tuple()[1]}; it needs no GPU:

    pip install uv && uv run snakemake --profile {PROFILE.partition("/")[0]} redraw
    sha256sum --check --quiet {CHECKSUMS}

The first command draws every table and figure again from the measurements, in place; it measures nothing. The second
compares all files with those that were archived, bit for bit, and says nothing where they are the same. They were drawn
with {packages}, which the first command installs.

## Where the code comes from

The points were measured at commit {environment["git_revision"] or "unknown"}; this archive was made at {revision}.
{state}

How to cite: `CITATION.cff`. Licence: `LICENSE`.
"""
