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
        """The values on axes that the source states. What an exchange was told is one value."""
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
    for number, one in enumerate(published, start=1):
        where = f"{path}, {_row(number, one)}"
        # All but its unit and value.
        first = rows_by_key.setdefault(astuple(one)[:-2], number)
        if first < number:
            raise UserError(f"{where}: row {first} has this number already. Name another run, or leave one out.")
        if not one.source or not (one.device or one.quantity == OUTPUT):
            raise UserError(f"{where}: source or device is empty. Name both: a reader must know whose number it is.")
        if one.quantity == TIME:
            check_known(one.unit, MICROSECONDS, f"{where}: unit is")
        if one.quantity != OUTPUT:
            _check_texts(one, where)
    return published


def _check_texts(one: PublishedNumber, where: str) -> None:
    """Raise UserError for a number or parameters that can't be read."""
    try:
        is_possible = one.number > 0 or one.quantity not in (TIME, SPEEDUP)
    except ValueError:
        is_possible = False
    if not is_possible:
        raise UserError(f"{where}: value is {one.value!r}. Allowed: a number, of times above 0, also such as '≥ 2'.")
    if wrong := [word for word in one.parameters.split() if not all(word.partition("="))]:
        raise UserError(f"{where}: parameters has {wrong[0]!r}. Allowed: axes with values, such as unroll=8.")


def _row(number: int, one: PublishedNumber) -> str:
    return f"row {number} ({' '.join(filter(None, (one.kernel or one.listing, one.quantity)))})"


def check_published(
    published: Sequence[PublishedNumber],
    kernels: Iterable[str],
    axes: Collection[str],
    metrics: Iterable[str],
    where: str,
) -> None:
    """Raise UserError, with file (`where`) and row, for a kernel, an axis or a quantity that the study doesn't have."""
    quantities = [*NO_METRICS, *metrics]
    for number, one in enumerate(published, start=1):
        shown = f"{where}, {_row(number, one)}"
        check_known(one.quantity, quantities, f"{shown}: quantity is")
        for column, kernel in {"kernel": one.kernel, "over": one.over}.items():
            if kernel:  # Else it is of no kernel of ours, as a host's time.
                check_known(kernel, kernels, f"{shown}: {column} is")
        for axis in one.axes:
            check_known(axis, axes, f"{shown}: parameters has")


def published_outputs(published: Iterable[PublishedNumber]) -> dict[tuple[str, str], str]:
    """The elements that an exchange leaves, by its kernel and its arguments."""
    return {(one.kernel, one.parameters): one.value for one in published if one.quantity == OUTPUT}


def beside_step(published: Iterable[PublishedNumber], step: Step) -> list[PublishedNumber]:
    """The numbers that stand beside a step: of several runs, those of the one without a name."""
    return [one for one in published if one.kernel and not one.run and one.quantity != OUTPUT and one.is_of(step)]


def columns_beside(
    published: Sequence[PublishedNumber], steps: Sequence[Step]
) -> dict[tuple[str, str], list[PublishedNumber | None]]:
    """The numbers beside steps, None where there is none: by origin and quantity, in the file's order.

    A speedup is over the first step: as the source says, or as follows from its times.
    """
    found: dict[tuple[str, str], list[PublishedNumber | None]] = {}
    for one in published:
        if not one.over or (one.quantity, one.over) == (SPEEDUP, steps[0][0]):
            column = [one if beside_step([one], step) else None for step in steps]
            known = found.get((one.origin, one.quantity), column)
            found[one.origin, one.quantity] = [new or old for new, old in zip(column, known, strict=True)]
    columns = {}
    for (origin, quantity), column in found.items():
        if any(column):
            columns[origin, quantity] = column
        if quantity == TIME and (first := column[0]):
            columns[origin, SPEEDUP] = found.get((origin, SPEEDUP)) or [one and _speedup(one, first) for one in column]
    return columns


def _speedup(one: PublishedNumber, first: PublishedNumber) -> PublishedNumber:
    return replace(one, quantity=SPEEDUP, over=first.kernel, unit="", value=f"{first.time_us / one.time_us:.2f}")
