"""The files with the earlier side of a comparison.

config.yaml's `compare.before` names it: `previous`, earlier measurements from their journal; a folder of results; or
`recording/<name>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.platforms.names import is_recording, recording_folder

PREVIOUS = "previous"

_KEY = "config/config.yaml (or --config): compare.before"


def folder_of(side: str) -> Path:
    """The folder of a side that is not `previous`."""
    return Path(recording_folder(side)) if is_recording(side) else Path(side)


def side_files(side: str, studies: Sequence[str]) -> list[str]:
    """The files with the measurements of a folder of results or a recording: those in points/, which are always up to
    date, else measurements.csv.

    Raises UserError if there are none.
    """
    folder = folder_of(side)
    points = [path for study in studies for path in sorted(folder.glob(f"points/{study}/*.csv"))]
    if points:
        return [str(path) for path in points]
    for name in ("measurements.csv", "measurements.csv.gz"):
        if (folder / name).is_file():
            return [str(folder / name)]
    raise UserError(
        f"{_KEY} is {side!r}, but in {folder}/ there is neither measurements.csv "
        f"nor points/ of {', '.join(studies)}. Allowed: previous, a folder of results such as "
        "results-old/nvidia-h200, or recording/<name>."
    )


def check_before(before: str, platform: str) -> None:
    """Raise UserError if the platform's measurements can't be compared with `before`."""
    if before == PREVIOUS and is_recording(platform):
        raise UserError(
            f"{_KEY} is previous, which is read from a journal, but {platform} has no journal. "
            "Allowed with it: a folder of results such as results-old/nvidia-h200, or recording/<name>."
        )
