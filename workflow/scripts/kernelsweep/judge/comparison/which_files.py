"""The files with the earlier side of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kernelsweep.device.names import is_recording, recording_folder
from kernelsweep.errors import UserError

PREVIOUS = "previous"

_ALLOWED = "a folder of results such as results-old/nvidia-h200, or recording/<name>."


def earlier_files(before: str, platform: str, studies: Sequence[str]) -> list[str]:
    """The files of what config.yaml's `compare.before` names, for a comparison with a platform's measurements.

    `previous` has none: a journal has these measurements. A folder of results or a recording has those in points/,
    which are always up to date, else measurements.csv. Raises UserError if there are none, nor a journal.
    """
    where = "config/config.yaml (or --config): compare.before"
    if before == PREVIOUS:
        if is_recording(platform):
            raise UserError(f"{where} is previous, but {platform} has no journal. Allowed with it: {_ALLOWED}")
        return []
    folder = Path(recording_folder(before)) if is_recording(before) else Path(before)
    points = [path for study in studies for path in sorted(folder.glob(f"points/{study}/*.csv"))]
    whole = [path for name in ("measurements.csv", "measurements.csv.gz") if (path := folder / name).is_file()]
    if not points and not whole:
        raise UserError(
            f"{where} is {before!r}, but in {folder}/ there is neither measurements.csv nor points/ of "
            f"{', '.join(studies)}. Allowed: previous, {_ALLOWED}"
        )
    return [str(path) for path in points or whole[:1]]
