"""Tables as Markdown for readers and LaTeX for papers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas

from kernelsweep.analysis.words import markdown_table

EMPTY = "–"

# Intervals are about 0.2% of a median, so more digits would be noise.
_TIME_DIGITS = 4

# The most letters a line in LaTeX: of a heading, of a name, and of a configuration.
_HEADING_LETTERS, _NAME_LETTERS, _CONFIGURATION_LETTERS = 14, 20, 12

# A number: its digits before and after the point, and its uncertainty in the last of them.
_NUMBER = re.compile(r"-?([\d,]+)\.?(\d*)(?:\((\d+)\))?")

# LaTeX reads UTF-8, but for exponents.
_LATEX_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
}
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))


@dataclass(frozen=True)
class Column:
    """A formatted column: plain text cells, set right when they are numbers."""

    header: str
    cells: Sequence[str]
    right: bool = True


@dataclass(frozen=True)
class TableText:
    """A table as a reader sees it, in no format yet.

    title        the study's
    provenance   where the numbers come from
    kernels      the first column, one kernel a row
    columns      the others
    explanation  what the columns hold
    main_rows    the number of rows above the line that LaTeX draws between rows of different kinds
    marks        in Markdown, each row's footnote numbers, from 1
    notes        the footnotes
    below        a second table under a title of its own
    """

    title: str
    provenance: str
    kernels: Sequence[str]
    columns: Sequence[Column]
    explanation: str
    main_rows: int
    marks: Sequence[Sequence[int]] = ()
    notes: Sequence[str] = ()
    below: TableText | None = None


def numbers(values: Iterable[Any], decimals: int, unit: str = "") -> list[str]:
    """The values as cells with that number of decimals."""
    return [EMPTY if pandas.isna(value) else f"{value:,.{decimals}f}{unit}" for value in values]


def four_digits(value: float) -> str:
    """A quantity with four digits or all before its point: 25.63, 15,641."""
    return numbers([value], _decimals(value))[0]


def interval_text(row: pandas.Series[Any]) -> str:
    """The interval of a row's time, with the decimals of the time."""
    if pandas.isna(row["time_us"]):
        return EMPTY
    return EMPTY.join(numbers([row["time_low_us"], row["time_high_us"]], _decimals(row["time_us"])))


def _decimals(value: float) -> int:
    if pandas.isna(value) or value <= 0:
        return 0
    return min(max(_TIME_DIGITS - 1 - math.floor(math.log10(value)), 0), _TIME_DIGITS - 1)


def as_markdown(text: TableText) -> str:
    """The table for readers: a heading, where the numbers come from, the formatted rows, their notes."""
    return "\n".join([*_markdown_section(text, "##"), *(_markdown_section(text.below, "###") if text.below else [])])


def _markdown_section(text: TableText, heading: str) -> list[str]:
    names = [
        f"`{kernel}`" + (f" <sup>{','.join(map(str, marks))}</sup>" if marks else "")
        for kernel, marks in zip(text.kernels, text.marks, strict=True)
    ]
    heads = {"kernel": False, **{column.header: column.right for column in text.columns}}
    rows = zip(names, *(column.cells for column in text.columns), strict=True)
    notes = [f"<sup>{mark}</sup> {note}  " for mark, note in enumerate(text.notes, start=1)]
    body = ["", text.provenance, "", *markdown_table(heads, rows), "", *notes, *([""] if notes else [])]
    return [f"{heading} {text.title}", *body, text.explanation, ""]


def as_latex(text: TableText | str) -> str:
    r"""A short table for a column of 3.5 in: a `table` environment with caption and label; a text as a remark.

    Needs the packages booktabs and siunitx. The label is `tab:` and the title up to its colon, in lower case.
    """
    if isinstance(text, str):
        return f"% {text}\n"
    names = [rf"\texttt{{{_stacked(broken(kernel, _NAME_LETTERS), 't', 'l')}}}" for kernel in text.kernels]
    first, *columns = text.columns
    first = Column(first.header, ["\n".join(broken(cell, _CONFIGURATION_LETTERS, "/")) for cell in first.cells], False)
    label = re.sub(r"[^a-z0-9]+", "-", text.title.split(":")[0].lower()).strip("-")
    end = "" if text.title.endswith(("?", ".")) else "."
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs,siunitx}, and a column 3.5 in wide.",
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{caption(f'{text.title}{end} {text.provenance}')}}}",
            rf"  \label{{tab:{label}}}",
            r"  \scriptsize",
            r"  \setlength{\tabcolsep}{1.5pt}",
            *(f"  {line}" for line in _tabular(names, [first, *columns], text.main_rows)),
            "",
            r"  \smallskip",
            r"  \begin{minipage}{\linewidth}\raggedright",
            f"    {escape(text.explanation)}",
            r"  \end{minipage}",
            r"\end{table}",
            "",
        ]
    )


def broken(text: str, letters: int, signs: str = "_ ") -> list[str]:
    """A text broken behind one of these signs into lines of at most so many letters, if its parts allow."""
    lines = [""]
    for part in re.findall(f"[^{signs}]*[{signs}]|[^{signs}]+", text):
        if lines[-1] and len(lines[-1] + part) > letters:
            lines.append("")
        lines[-1] += part
    return [line.strip() for line in lines]


def _tabular(names: Sequence[str], columns: Sequence[Column], main_rows: int) -> list[str]:
    kinds = [_kind(column) for column in columns]
    body = [
        "  " + " & ".join([name, *map(_cell, cells, kinds)]) + r" \\"
        for name, *cells in zip(names, *(column.cells for column in columns), strict=True)
    ]
    if 0 < main_rows < len(body):
        body.insert(main_rows, r"  \midrule")
    heads = [f"{{{_stacked(_heading_lines(column), 'b', 'r' if column.right else 'l')}}}" for column in columns]
    header = " & ".join(["kernel", *heads])
    start = rf"\begin{{tabular}}{{@{{}}l{''.join(kinds)}@{{}}}}"
    return [start, r"  \toprule", rf"  {header} \\", r"  \midrule", *body, r"  \bottomrule", r"\end{tabular}"]


def _kind(column: Column) -> str:
    """How LaTeX sets a column: at the decimal points where its cells are numbers, else right or left."""
    cells = [cell for cell in column.cells if cell != EMPTY]
    found = [match for cell in cells if (match := _NUMBER.fullmatch(cell))]
    others = [cell for cell in cells if not _NUMBER.fullmatch(cell)]
    if not column.right or not found or re.search(r"\d", "".join(others)):
        return "r" if column.right else "l"
    whole, decimals = (max(len(match[part].replace(",", "")) for match in found) for part in (1, 2))
    uncertain = max(len(match[3] or "") for match in found)
    form = f"{whole}{f'.{decimals}' if decimals else ''}{f'({uncertain})' if uncertain else ''}"
    return f"S[table-format={form}]"


def _heading_lines(column: Column) -> list[str]:
    """A header on several lines, unit or device below, so that columns stay as narrow as their numbers."""
    first, _, second = column.header.partition(" (")
    return textwrap.wrap(first, _HEADING_LETTERS) + textwrap.wrap(f"({second}" if second else "", _HEADING_LETTERS)


def _cell(text: str, kind: str) -> str:
    """A cell on its lines; bare numbers for siunitx."""
    if not kind.startswith("S"):
        return _stacked(text.split("\n"), "t", "l")
    return text.replace(",", "") if _NUMBER.fullmatch(text) else f"{{{escape(text)}}}"


def _stacked(lines: Sequence[str], line_up: str, side: str) -> str:
    if len(lines) <= 1:
        return escape("".join(lines))
    stacked = r"\\".join(map(escape, lines))
    return rf"\begin{{tabular}}[{line_up}]{{@{{}}{side}@{{}}}}{stacked}\end{{tabular}}"


def caption(text: str) -> str:
    """A text for a caption in LaTeX: without the folder of a recording, which is no reader's of a paper."""
    return escape(re.sub(r" \(resources/recordings/[^)]*\)", "", text))


def escape(text: str) -> str:
    """A text for LaTeX: the characters that tables use, in ASCII."""
    escaped = "".join(_LATEX_SPECIAL.get(character, character) for character in text.replace("`", ""))
    return re.sub(
        f"[{''.join(_SUPERSCRIPTS)}]+",
        lambda match: rf"\textsuperscript{{{''.join(_SUPERSCRIPTS[digit] for digit in match[0])}}}",
        escaped,
    )
