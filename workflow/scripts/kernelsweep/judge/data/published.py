"""Published numbers, read from resources/published, beside which ours are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path
from typing import Any

from kernelsweep.errors import UserError, check_known
from kernelsweep.results import finite, read_parameters, read_rows

PUBLISHED = Path("resources/published")

# The quantities that are no metrics.
TIME, SPEEDUP, RESULT, OUTPUT = NO_METRICS = ("time", "speedup", "result", "output")
MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}

# A step: its kernel, and its values on axes; None: it names none.
Step = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class PublishedNumber:
    """A row of a file, as its source prints it. resources/published/README.md explains the columns."""

    source: str
    device: str
    run: str
    listing: str
    kernel: str
    parameters: str
    quantity: str
    over: str
    unit: str
    value: str

    @property
    def origin(self) -> str:
        """Whose number it is: `RTX 3080 (unrolling-loops)`."""
        return f"{self.device} ({self.source})"

    @property
    def number(self) -> float:
        """The value, of which a sign such as ≥ may say that it is a limit."""
        return finite(self.value.lstrip("<>≤≥~ "))

    @property
    def time_us(self) -> float:
        """Microseconds; rounded to a femtosecond, since 0.1644 ms are 164.4 µs and not 164.39999999999998."""
        return round(self.number * MICROSECONDS[self.unit], 9)

    @property
    def axes(self) -> dict[str, str]:
        """The values on axes that the source states. The arguments of an exchange are one value."""
        return {"arguments": self.parameters} if self.quantity == OUTPUT else read_parameters(self.parameters)

    def is_of(self, step: Step) -> bool:
        """Whether it is the number of a step, so far as both name values on axes."""
        kernel, values = step
        stated = [(value, values.get(axis)) for axis, value in self.axes.items()]
        return self.kernel == kernel and all(ours is None or str(ours) == value for value, ours in stated)


def read_published(name: str | None, folder: Path = PUBLISHED) -> list[PublishedNumber]:
    """The rows of a study's file of `folder`, in the file's order; none where it names none.

    Raises UserError, with file and row, for a file or a column that is missing, an unknown unit, a value that is no
    number, and a row that another one contradicts.
    """
    if name is None:
        return []
    path = folder / name
    if not path.is_file():
        check_known(name, sorted(file.name for file in folder.glob("*.csv")), "published is")
    rows = read_rows(path)
    columns = [field.name for field in fields(PublishedNumber)]
    if missing := [column for column in columns if column not in (rows[0] if rows else columns)]:
        raise UserError(f"{path}: no column {missing[0]}. A file has the columns {', '.join(columns)}.")
    published = [PublishedNumber(**{column: row[column] for column in columns}) for row in rows]
    rows_by_key: dict[tuple[str, ...], int] = {}
    for number, entry in enumerate(published, start=1):
        where = f"{path}, {_row(number, entry)}"
        # All but its unit and value.
        first = rows_by_key.setdefault(astuple(entry)[:-2], number)
        if first < number:
            raise UserError(f"{where}: row {first} has this number already. Name another run, or leave one out.")
        if not entry.source or not (entry.device or entry.quantity == OUTPUT):
            raise UserError(f"{where}: source or device is empty. Name both: a reader must know whose number it is.")
        if entry.quantity == TIME:
            check_known(entry.unit, MICROSECONDS, f"{where}: unit is")
        if entry.quantity != OUTPUT:
            _check_texts(entry, where)
    return published


def _check_texts(entry: PublishedNumber, where: str) -> None:
    """Raise UserError for a number or parameters that can't be read."""
    try:
        is_possible = entry.number > 0 or entry.quantity not in (TIME, SPEEDUP)
    except ValueError:
        is_possible = False
    if not is_possible:
        raise UserError(f"{where}: value is {entry.value!r}. Allowed: a number, of times above 0, also such as '≥ 2'.")
    if wrong := [word for word in entry.parameters.split() if not all(word.partition("="))]:
        raise UserError(f"{where}: parameters has {wrong[0]!r}. Allowed: axes with values, such as unroll=8.")


def _row(number: int, published: PublishedNumber) -> str:
    return f"row {number} ({' '.join(filter(None, (published.kernel or published.listing, published.quantity)))})"


def check_published(
    published: Sequence[PublishedNumber],
    kernels: Iterable[str],
    axes: Collection[str],
    metrics: Iterable[str],
    where: str,
) -> None:
    """Raise UserError, with file (`where`) and row, for a kernel, an axis or a quantity that the study doesn't have."""
    quantities = [*NO_METRICS, *metrics]
    for number, entry in enumerate(published, start=1):
        row = f"{where}, {_row(number, entry)}"
        check_known(entry.quantity, quantities, f"{row}: quantity is")
        for column, kernel in {"kernel": entry.kernel, "over": entry.over}.items():
            if kernel:  # Else it is of no kernel of ours, as a host's time.
                check_known(kernel, kernels, f"{row}: {column} is")
        for axis in entry.axes:
            check_known(axis, axes, f"{row}: parameters has")


def beside_step(published: Iterable[PublishedNumber], step: Step) -> list[PublishedNumber]:
    """The numbers that stand beside a step: of several runs, those of the one without a name."""
    return [one for one in published if one.kernel and not one.run and one.quantity != OUTPUT and one.is_of(step)]


def columns_beside(
    published: Sequence[PublishedNumber], steps: Sequence[Step]
) -> dict[tuple[str, str], list[PublishedNumber | None]]:
    """The numbers beside steps, None where there is none: by origin and quantity, in the file's order.

    A speedup is over the first step: as the source says, or as follows from its times.
    """
    by_origin: dict[tuple[str, str], list[PublishedNumber | None]] = {}
    for entry in published:
        if not entry.over or (entry.quantity, entry.over) == (SPEEDUP, steps[0][0]):
            column = [entry if beside_step([entry], step) else None for step in steps]
            earlier = by_origin.get((entry.origin, entry.quantity), column)
            by_origin[entry.origin, entry.quantity] = [new or old for new, old in zip(column, earlier, strict=True)]
    columns = {}
    for (origin, quantity), column in by_origin.items():
        if any(column):
            columns[origin, quantity] = column
        if quantity == TIME and (first := column[0]):
            over = {"quantity": SPEEDUP, "over": first.kernel, "unit": ""}
            speedups = [
                entry and replace(entry, value=f"{first.time_us / entry.time_us:.2f}", **over) for entry in column
            ]
            columns[origin, SPEEDUP] = by_origin.get((origin, SPEEDUP)) or speedups
    return columns
