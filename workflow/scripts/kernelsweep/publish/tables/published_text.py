"""Published numbers: columns beside ours in a study's table, and a table of all that a source prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from kernelsweep.judge.data.published import OUTPUT, SPEEDUP, TIME, PublishedNumber
from kernelsweep.judge.data.step_metrics import heading, title
from kernelsweep.publish.tables.formats import EMPTY, Column, TableText


@dataclass(frozen=True)
class PublishedColumn:
    """A quantity that a source prints, beside the steps of a study's story.

    origin   the source and its device
    numbers  of each step, at least one; None where the source has none
    """

    origin: str
    quantity: str
    numbers: Sequence[PublishedNumber | None]

    @property
    def name(self) -> str:
        """The column in table.csv, with times in microseconds."""
        quantity, unit = ("time_us", "") if self.quantity == TIME else (self.quantity, self.first.unit)
        return f"published_{quantity} {self.first.source} ({', '.join(filter(None, (unit, self.first.device)))})"

    @property
    def first(self) -> PublishedNumber:
        """The first of its numbers; all have its source, device and unit."""
        return next(filter(None, self.numbers))

    @property
    def values(self) -> list[float]:
        """The numbers, times in microseconds; NaN where there is none."""
        numbers = ((one.time_us if self.quantity == TIME else one.number) if one else math.nan for one in self.numbers)
        return list(numbers)

    @property
    def cells(self) -> list[str]:
        """The numbers in italics, with all digits that the source prints; times in microseconds."""
        return [f"*{_shown(one)}*" if one else EMPTY for one in self.numbers]


def _shown(number: PublishedNumber) -> str:
    if number.quantity == TIME:
        return f"{number.time_us:,.12g}"
    return f"{number.value}×" if number.quantity == SPEEDUP else number.value


def published_tables(published: Sequence[PublishedNumber]) -> list[TableText]:
    """A table a source, with all that it prints, to the letter."""
    sources = dict.fromkeys(one.source for one in published)
    return [_source_table(source, [one for one in published if one.source == source]) for source in sources]


def _source_table(source: str, numbers: Sequence[PublishedNumber]) -> TableText:
    """A row for each listing at its parameters, and a column for each run and quantity."""
    of_rows = [number for number in numbers if number.listing or number.kernel]
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    stated: dict[str, dict[str, None]] = {"device": {}}
    columns: dict[str, bool] = {}
    for number in of_rows:
        of_row = ({"device": number.device} if number.kernel and number.device else {}) | number.axes
        row = rows.setdefault((number.listing, number.kernel, number.device, number.parameters), of_row)
        for fact, value in of_row.items():
            stated.setdefault(fact, {})[value] = None
        what = heading(number.quantity, number.unit) if number.unit else title(number.quantity)
        head = f"{number.run}: " * bool(number.run) + what + f" over {number.over}" * bool(number.over)
        row[head], columns[head] = number.value, number.quantity != OUTPUT
    varied = {fact: columns.keys() != {OUTPUT} for fact, values in stated.items() if len(values) > 1}
    names = [" ".join(f"`{name}`" for name in (listing, kernel) if name) for listing, kernel, *_ in rows]
    alike = {fact: value for fact, [*values] in stated.items() for value in values if fact not in varied}
    facts = [value if fact == "device" else f"{fact}={value}" for fact, value in alike.items()]
    facts += [] if stated.keys() - {"device"} else ["no size is stated"]
    facts += [f"{title(number.quantity)} {number.value}" for number in numbers if number not in of_rows]
    facts += [*dict.fromkeys(f"{number.listing}: {number.device}" for number in of_rows if not number.kernel)]
    return TableText(
        title=f"Published in {source}",
        provenance=f"As printed{': ' if facts else ''}{'; '.join(facts)}.",
        kernels=(),
        columns=[
            Column(head, [row.get(head, EMPTY) for row in rows.values()], right)
            for head, right in (varied | columns).items()
        ],
        explanation="",
        first=Column("in the document, and here", names, right=False),
    )
