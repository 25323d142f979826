"""An archive of a platform's results, from which the same tables and figures can be drawn again, byte for byte.

It contains the project's files, with the code that drew the figures; the results; the resolved configuration; a
Snakemake profile that draws without measuring; and the checksum of every file.
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
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.platforms.names import is_recording, recording_folder
from kernelsweep.publish.figure_files import rule_name
from kernelsweep.sweep.kernels.build_targets import EMULATOR

# The project's files that a run reads. The archive has its own README.
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
# Folders of results that are left out: files for a rerun on the same machine, and reports for Nsight Compute's window.
LEFT_OUT = ("journal", "logs", "profiles")
# The rules that draw and judge, besides those of studies. No other rule is allowed, so that nothing is measured.
DRAWING_RULES = ("redraw", "judge")

# The packages whose versions could change tables and figures.
DRAWING_PACKAGES = ("snakemake", "numpy", "pandas", "matplotlib", "seaborn")

CONFIGURATION, PROFILE, CHECKSUMS, README = "configuration.yaml", "archived/config.yaml", "SHA256SUMS", "README.md"

# All files get this date, so that archives of equal content are equal: 1980, the earliest that every format supports.
DATE = 315532800


def project_files(root: Path, platform: str) -> list[str]:
    """The project's files in the archive of a platform's results, relative to `root`, sorted."""
    recording = [recording_folder(platform)] if is_recording(platform) else []
    return sorted(file.relative_to(root).as_posix() for name in (*PROJECT, *recording) for file in _files(root / name))


def result_files(root: Path, platform: str) -> list[str]:
    """The results' files in the archive, relative to `root`, sorted."""
    results = root / "results" / platform
    made = [file for file in _files(results) if not {*file.relative_to(results).parts[:-1]} & {*LEFT_OUT}]
    return sorted(file.relative_to(root).as_posix() for file in made)


def _files(path: Path) -> list[Path]:
    """The file, or all files below the folder except hidden ones and Python's caches."""
    if not path.is_dir():
        return [path] if path.is_file() else []
    hidden = (".", "__pycache__")
    found = (file for file in path.rglob("*") if file.is_file())
    return [file for file in found if not any(part.startswith(hidden) for part in file.relative_to(path).parts)]


def content_hash(root: Path, files: Iterable[str]) -> str:
    """A hash of the files' names and contents, which shows a run whether an archive is out of date."""
    digest = hashlib.sha256()
    for name in files:
        digest.update(f"{name}\0".encode() + hashlib.sha256((root / name).read_bytes()).digest())
    return digest.hexdigest()


def archive(root: Path, platform: str, configuration: Mapping[str, Any], environment: Mapping[str, Any]) -> bytes:
    """The archive of a platform's results, a .tar.gz with the same bytes for the same content.

    configuration  the resolved configuration of the run that made the results
    environment    environment.json
    """
    names = [*project_files(root, platform), *result_files(root, platform)]
    files = {name: (root / name).read_bytes() for name in names}
    files[CONFIGURATION] = yaml.safe_dump(dict(configuration), allow_unicode=True).encode()
    files[PROFILE] = _profile(platform, configuration["studies"]).encode()
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


def _profile(platform: str, studies: Iterable[str]) -> str:
    """The Snakemake profile that draws every table and figure again, and does nothing else.

    A GPU's platform can't be named on a machine without that GPU; the rule redraw finds its results nevertheless.
    """
    of_studies = [rule_name(study, kind_of(platform).has_clock) for study in studies]
    return yaml.safe_dump(
        {
            "cores": 1,
            "configfile": CONFIGURATION,
            "config": [f"platform={platform if is_recording(platform) else EMULATOR}", "profile=false"],
            "forceall": True,
            "allowed-rules": [*DRAWING_RULES, *of_studies],
        }
    )


def uncommitted(root: Path, files: Iterable[str]) -> list[str] | None:
    """The files that differ from the current commit or aren't in it; None outside git."""
    if not (root / ".git").exists():  # git would report on a repository around this folder
        return None
    command = ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all", "-z", "--no-renames"]
    try:
        run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return sorted({entry[3:] for entry in run.stdout.split("\0") if entry} & set(files))


def _readme(platform: str, environment: Mapping[str, Any], changed: list[str] | None) -> str:
    packages = ", ".join(f"{name} {found}" for name, found in package_versions(DRAWING_PACKAGES).items())
    differing = "unknown: it was made outside a git repository"
    if changed is not None:
        differing = ", ".join(f"`{name}`" for name in changed) or "none"
    return f"""# kernelsweep: results of {platform}

In `results/{platform}/`: `measurements.csv` has one row a point, `samples/` (where points were measured here) one a
sample, `environment.json` what they were made with, and `studies/` the tables and figures. `{CONFIGURATION}` is the
configuration as it was resolved; `kernels/`, `config/`, `workflow/` and `resources/` are the project's files.

On a machine with Python {".".join(host.python_version_tuple()[:2])}; it needs no GPU:

    pip install uv && uv run snakemake --profile {PROFILE.partition("/")[0]} redraw
    sha256sum --check --quiet {CHECKSUMS}

The first command draws every table and figure again from the measurements, in place; it measures nothing. The second
compares all files with those that were archived, bit for bit, and says nothing where they are the same. They were drawn
with {packages}, which the first command installs.

The points were measured at commit {environment["git_revision"] or "unknown"}:
{environment["device"]["provenance"]}; {environment["measured"]}.
This archive was made at {git_revision() or "unknown"}. Files that differ from that commit, and are here as they were:
{differing}.

How to cite: `CITATION.cff`. Licence: `LICENSE`.
"""
