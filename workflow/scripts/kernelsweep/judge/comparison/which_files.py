"""The files with the two sides of a comparison.

config.yaml's `compare` names each side: `now`, the latest measurements; `previous`, earlier measurements from their
journal; a folder of results; or `recording/<name>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernelsweep.errors import UserError
from kernelsweep.platforms.names import is_recording, recording_folder

NOW = "now"
PREVIOUS = "previous"

_KEY = "config/config.yaml (or --config): compare"


def compared_platform(after: str, platforms: Sequence[str]) -> str:
    """The platform whose folder of results gets the comparison: the measured one, or the one that `after` names."""
    if after == NOW:
        return platforms[0]
    return after if is_recording(after) else Path(after).name


def folder_of(side: str) -> Path:
    """The folder of a side that is neither `now` nor `previous`."""
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
        f"{_KEY} names {side!r}, but in {folder}/ there is neither measurements.csv "
        f"nor points/ of {', '.join(studies)}. Allowed: previous or now, a folder of results such as "
        "results-old/nvidia-h200, or recording/<name>."
    )


def check_sides(before: str, after: str, platform: str) -> None:
    """Raise UserError if the two sides can't be compared; `platform` is the comparison's platform."""
    if after == PREVIOUS or before == NOW:
        raise UserError(f"{_KEY} sets {before} against {after}. Allowed: previous only as before, now only as after.")
    if before == PREVIOUS and is_recording(platform):
        raise UserError(
            f"{_KEY}.before is previous, which is read from a journal, but {platform} has no journal. "
            "Allowed with it: a folder of results such as results-old/nvidia-h200, or recording/<name>."
        )
