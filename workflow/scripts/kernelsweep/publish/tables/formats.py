"""Tables as Markdown for readers and LaTeX for papers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pandas

from kernelsweep.base.templates import markdown_table

EMPTY = "–"

# Intervals are about 0.2% of a median, so more digits would be noise.
_TIME_DIGITS = 4

# A number, with its uncertainty in the last digits.
_NUMBER = re.compile(r"(-?)([\d,]+)\.?(\d*)(?:\((\d+)\))?")

# In LaTeX, the letters on a line of a name that is broken, of a head, and of a head that is not broken; and of a whole
# line for which one column of a paper has room, shrunk by a tenth. A monospaced letter takes as much as 1.3 others.
NAME_LETTERS, _HEAD, _SHORT_HEAD, MOST_LETTERS, _MONOSPACED, _GAP = 20, 11, 9, 80, 1.3, 1.5

# LaTeX reads UTF-8, but for exponents.
_LATEX_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "−": "$-$"},
}
# Lines of a cell, of which the first is on the row's.
_STACK = r"\begin{tabular}[t]{@{}l@{}}"
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))


@dataclass(frozen=True)
class Column:
    """A formatted column: text cells, set right when they are numbers. In Markdown, what others print is in italics."""

    header: str
    cells: Sequence[str]
    right: bool = True


@dataclass(frozen=True)
class TableText:
    """A table as a reader sees it, in no format yet.

    title        the study's
    provenance   where the numbers come from
    kernels      the first column, one kernel a row; () if `first` is it
    columns      the others
    explanation  what the columns hold
    words        what the columns' names mean; in Markdown, it unfolds
    marks        in Markdown, each row's footnote numbers, from 1
    notes        the footnotes
    below        more tables, each under a title of its own
    first        another first column than the kernels
    rules        in LaTeX, the numbers of the rows above which a rule stands
    """

    title: str
    provenance: str
    kernels: Sequence[str]
    columns: Sequence[Column]
    explanation: str
    words: Mapping[str, str] = field(default_factory=dict)
    marks: Sequence[Sequence[int]] = ()
    notes: Sequence[str] = ()
    below: Sequence[TableText] = ()
    first: Column | None = None
    rules: Sequence[int] = ()


def numbers(values: Iterable[Any], decimals: int, unit: str = "") -> list[str]:
    """The values as cells with that number of decimals."""
    return [EMPTY if pandas.isna(value) else f"{value:,.{decimals}f}{unit}" for value in values]


def four_digits(value: float) -> str:
    """A quantity with four digits or all before its point: 25.63, 15,641."""
    return numbers([value], decimals(value))[0]


def interval_text(row: pandas.Series[Any]) -> str:
    """The interval of a row's time, with the decimals of the time."""
    if pandas.isna(row["time_us"]):
        return EMPTY
    return EMPTY.join(numbers([row["time_low_us"], row["time_high_us"]], decimals(row["time_us"])))


def decimals(value: float) -> int:
    """The decimals with which a number has four digits, or all before its point."""
    if pandas.isna(value) or value <= 0:
        return 0
    return min(max(_TIME_DIGITS - 1 - math.floor(math.log10(value)), 0), _TIME_DIGITS - 1)


def as_markdown(text: TableText) -> str:
    """The table for readers: a heading, where the numbers come from, the formatted rows, their notes."""
    below = [line for one in text.below for line in _markdown_section(one, "###")]
    return "\n".join([*_markdown_section(text, "##"), *below])


def _markdown_section(text: TableText, heading: str) -> list[str]:
    names = [
        f"`{kernel}`" + (f" <sup>{','.join(map(str, marks))}</sup>" if marks else "")
        for kernel, marks in zip(text.kernels, text.marks, strict=True)
    ]
    columns = [text.first or Column("kernel", names, right=False), *text.columns]
    heads = {column.header: column.right for column in columns}
    rows = zip(*(column.cells for column in columns), strict=True)
    notes = [f"<sup>{mark}</sup> {note}  " for mark, note in enumerate(text.notes, start=1)]
    # Names alone say nothing.
    table = [markdown_table(heads, rows), ""] if text.columns or text.notes else []
    notes += [""] if notes else []
    words = [f"- {word}: {meaning}" for word, meaning in text.words.items()]
    words = ["<details><summary>What each column means</summary>", "", *words, "", "</details>", ""] if words else []
    return [f"{heading} {text.title}", "", text.provenance, "", *table, *notes, text.explanation, "", *words]


def as_latex(text: TableText | str) -> str:
    r"""A short table for a column of a paper: a `table` environment with caption and label; a text as a remark.

    Needs the packages booktabs, graphicx and siunitx. The label is `tab:` and the title up to its colon.
    """
    if isinstance(text, str):
        return f"% {text}\n"
    label = re.sub(r"[^a-z0-9]+", "-", text.title.split(":")[0].lower()).strip("-")
    end = "" if text.title.endswith(("?", ".")) else "."
    # A folder of the repository is no reader's of a paper.
    provenance = re.sub(r" \(resources/recordings/[^)]*\)", "", text.provenance)
    whole, narrow = (_columns(text, letters) for letters in (MOST_LETTERS, NAME_LETTERS))
    columns = narrow if _letters(whole) > MOST_LETTERS >= _letters(narrow) else whole
    environment = "table*" if _letters(columns) > MOST_LETTERS else "table"
    kinds = [_kind(column) for column in columns]
    heads = [_cell(column.header, "l").replace("[t]", "[b]") for column in columns]
    heads = [
        head.replace("@{}l@", f"@{{}}{kind[0]}@".replace("S", "c")) for head, kind in zip(heads, kinds, strict=True)
    ]
    cells = [[_cell(cell, kind) for cell in of.cells] for of, kind in zip(columns, kinds, strict=True)]
    rows = [*map(" & ".join, zip(*cells, strict=True))]
    rows = [r"\midrule " * (number in text.rules) + row for number, row in enumerate(rows)]
    # Rows of several lines need more room between them; one without a first cell belongs to the row above.
    gap, is_stacked = r" \addlinespace[2pt]", any(_STACK in row for row in rows)
    rows = [
        rf"{row} \\{gap * (is_stacked and following != '')}"
        for row, following in zip(rows, [*cells[0][1:], None], strict=True)
    ]
    words = [f"{word}: {meaning}" for word, meaning in text.words.items()]
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs,graphicx,siunitx}.",
            rf"\begin{{{environment}}}",
            r"  \centering",
            rf"  \caption{{{escape(f'{text.title}{end} {provenance}')}}}",
            rf"  \label{{tab:{label}}}",
            r"  \medskip",
            r"  \footnotesize\setlength{\tabcolsep}{3pt}",
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"  \begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}",
            r"    \toprule",
            rf"    {' & '.join(f'{{{head}}}' for head in heads)} \\",
            r"    \midrule",
            *(f"    {row}" for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  }",
            "",
            rf"  \smallskip\raggedright {escape(' '.join([*words, text.explanation]))}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _columns(text: TableText, letters: int) -> list[Column]:
    """A table's columns in LaTeX, with lines of at most so many letters in kernels' names, and heads on lines."""
    names = ["\n".join(f"`{line}`" for line in broken(kernel, letters, "_")) for kernel in text.kernels]
    names = [re.sub(r" ([†‡§])`", "`\xa0\\1", name) for name in names]
    columns = [text.first or Column("kernel", names, right=False), *text.columns]
    return [replace(column, header=_lines(column.header)) for column in columns]


def _lines(header: str) -> str:
    """A head on lines, with its unit on the last."""
    parts = [header] if len(header) <= _SHORT_HEAD else header.replace(" (", "\n(").split("\n")
    return "\n".join(line for part in parts for line in textwrap.wrap(part, _HEAD, break_long_words=False))


def _letters(columns: Iterable[Column]) -> float:
    """The letters on the longest line, with a gap behind each column."""
    cells = (("\n".join([column.header, *column.cells])).split("\n") for column in columns)
    return sum(max(map(_width, lines)) + _GAP for lines in cells)


def _width(line: str) -> float:
    return sum(len(part) * (_MONOSPACED if number % 2 else 1) for number, part in enumerate(line.split("`")))


def _kind(column: Column) -> str:
    """A column's kind: of texts, or of numbers, with the room that these need on each side of the point."""
    found = [number.groups("") for number in map(_NUMBER.fullmatch, column.cells) if number]
    if not (column.right and found):
        return "l"
    sign, whole, places, uncertain = (max(map(len, of)) for of in zip(*found, strict=True))
    return f"S[table-format={'-' * sign}{whole}.{places}{f'({uncertain})' * (uncertain > 0)}]"


def _cell(text: str, kind: str) -> str:
    """A cell; bare numbers for siunitx."""
    if kind != "l":
        return text.replace(",", "") if _NUMBER.fullmatch(text) else f"{{{escape(text)}}}"
    lines = r" \\ ".join(map(escape, text.split("\n")))
    return rf"{_STACK}{lines}\end{{tabular}}" if "\n" in text else lines


def broken(text: str, letters: int, signs: str = "_ ") -> list[str]:
    """A text broken behind one of these signs into lines of at most so many letters, if its parts allow.

    Words in brackets stay together.
    """
    lines = [""]
    for part in re.findall(rf"[^{signs}(]*[{signs}]|\([^)]*\)|[^{signs}]+", text):
        if lines[-1] and len(lines[-1] + part) > letters:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]


def escape(text: str) -> str:
    """A text for LaTeX: the characters that tables use, in ASCII; monospaced between `backticks`."""
    escaped = "".join(_LATEX_SPECIAL.get(character, character) for character in text)
    escaped = re.sub("`([^`]*)`", r"\\texttt{\1}", escaped)
    return re.sub(
        f"[{''.join(_SUPERSCRIPTS)}]+",
        lambda match: rf"\textsuperscript{{{''.join(_SUPERSCRIPTS[digit] for digit in match[0])}}}",
        escaped,
    )
