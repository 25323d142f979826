"""The published outputs of exchanges, read from resources/published, beside which ours are shown."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kernelsweep.errors import UserError, check_known
from kernelsweep.results import read_rows

PUBLISHED = Path("resources/published")

# The elements that an exchange left, by the exchange and its arguments.
Outputs = Mapping[tuple[str, str], str]


def published_outputs(name: str | None, folder: Path = PUBLISHED) -> Outputs:
    """The outputs in a study's file of `folder`, in the file's order; none where it names none.

    Raises UserError where there is no such file, or where it lacks a column.
    """
    if name is None:
        return {}
    if not (folder / name).is_file():
        known = sorted(path.name for path in folder.glob("*.csv"))
        check_known(name, known, "published is")
    try:
        rows = read_rows(folder / name)
        return {(row["exchange"], row["arguments"]): " ".join(row["output"].split()) for row in rows}
    except KeyError as error:
        raise UserError(f"published is {name!r}, and {folder / name} has no column {error}.") from error
