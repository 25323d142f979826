"""Where kernelsweep itself lies: the emulator's headers, and the headers that kernels may share.

A user's own repository has none of these files. Its config/, kernels/ and results/ lie in the folder in which Snakemake
runs.
"""

from __future__ import annotations

import json
import os
import shlex
import tomllib
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlparse

HOME = Path(__file__).resolve().parents[3]
# What a user types before a target, without a GPU and with one, in a checkout, beside it or after an installation.
_INSTALLED = HOME.parts[-2:] == ("kernelsweep", "home")
_FROM = "" if Path.cwd() == HOME else f" --project {os.path.relpath(HOME)}"
_SNAKEMAKE = f"snakemake -s {os.path.relpath(HOME)}/Snakefile" if _FROM else "snakemake"
COMMAND = "kernelsweep" if _INSTALLED else f"uv run{_FROM} {_SNAKEMAKE}"
GPU_COMMAND = "kernelsweep" if _INSTALLED else f"uv run{_FROM} --extra gpu {_SNAKEMAKE}"
EMULATOR_HEADERS = "emulator/cpp"
HEADERS = "kernels/include"


def installation(extra: str) -> str:
    """The command by which an installation gets an extra, such as gpu; "" in a checkout."""
    if not _INSTALLED:
        return ""
    origin = json.loads(metadata.distribution("kernelsweep").read_text("direct_url.json") or "{}")
    url = str(origin.get("url", ""))
    if url.startswith("file:"):
        return f"uv tool install {shlex.quote(f'{unquote(urlparse(url).path)}[{extra}]')}"
    return f"uv tool install 'kernelsweep[{extra}]{f' @ git+{url}' if 'vcs_info' in origin else ''}'"


GPU_INSTALLATION = installation("gpu")


def version() -> str:
    """kernelsweep's release."""
    if _INSTALLED:
        return metadata.version("kernelsweep")
    return str(tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def shown(file: Path, root: Path) -> str:
    """A file as jobs name it: by its path from `root` if it lies there, else by its whole path."""
    return str(file.relative_to(root) if file.is_relative_to(root) else file)


def of_home(name: str, root: Path) -> str:
    """A file or folder of kernelsweep's, as jobs in `root` name it."""
    return shown(HOME / name, root.resolve())


def include_folders(root: Path) -> list[str]:
    """The folders of the headers that kernels in `root` may include, as jobs there name them; the user's own first."""
    own = [HEADERS] if (root / HEADERS).is_dir() else []
    return list(dict.fromkeys([*own, of_home(HEADERS, root)]))
