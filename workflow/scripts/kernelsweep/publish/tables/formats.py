"""Tables as CSV for programs, Markdown for readers, LaTeX for papers."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas

EMPTY = "–"

# Intervals are about 0.2% of a median, so more than four digits would be noise.
TIME_DIGITS = 4
# A speedup below this is written as how many times as long it takes.
SMALL_SPEEDUP = 0.1

# Headings in LaTeX are broken into lines of about this many letters, so that columns stay as narrow as their numbers.
HEADING_LETTERS = 14

# The most characters a line of a LaTeX cell: prose, and rows of numbers. In the short table: names of kernels, and
# configurations.
WORDS_LETTERS, OUTPUT_LETTERS = 26, 38
NAME_LETTERS, CONFIGURATION_LETTERS = 20, 12

# A number: its digits before and after the point, its uncertainty in the last of them, and its unit.
CELL_NUMBER = re.compile(r"-?([\d,]+)\.?(\d*)(?:\((\d+)\))?([%×]?)")

# The most columns of a tabular of a table below, besides those that name its rows.
MOST_COLUMNS = 7

LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "µ": r"$\mu$",
    "×": r"$\times$",
    "−": r"$-$",
    "–": "--",
    "…": r"\ldots{}",
    "|": r"\textbar{}",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"\S{}",
    "·": r"$\cdot$",
    "→": r"$\to$",
    "\N{NO-BREAK SPACE}": "~",
}
LATEX_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True))


@dataclass(frozen=True)
class Column:
    """A formatted column: plain text cells, set right when they are numbers.

    apart    in LaTeX, whose page is narrow, the column stands in a second table below the first
    names    the column tells rows of one kernel apart, so the second table has it too where it needs that
    follows  what the column says about the one before it, so that the two are never parted: in Markdown, whose lines
             are narrower than a page, its cells stand in brackets behind those
    """

    header: str
    cells: Sequence[str]
    right: bool = True
    apart: bool = False
    names: bool = False
    follows: str = ""


@dataclass(frozen=True)
class TableText:
    """A table as a reader sees it, in no format yet.

    title        the study's
    provenance   where the numbers come from
    kernels      the first column, one kernel a row
    marks        each row's footnote numbers, from 1
    columns      the others
    notes        the footnotes
    explanation  what the columns hold
    main_rows    the number of rows above the line that LaTeX draws between rows of different kinds
    below        a second table under a title of its own
    """

    title: str
    provenance: str
    kernels: Sequence[str]
    marks: Sequence[Sequence[int]]
    columns: Sequence[Column]
    notes: Sequence[str]
    explanation: str
    main_rows: int
    below: TableText | None = None


def numbers(values: pandas.Series[Any], decimals: int, unit: str = "") -> list[str]:
    """The values as cells with that number of decimals."""
    return [EMPTY if pandas.isna(value) else f"{value:,.{decimals}f}{unit}" for value in values]


def shown_decimals(values: pandas.Series[float]) -> int:
    """As many decimals for a column of times as its smallest value needs to show TIME_DIGITS digits."""
    if values.notna().sum() == 0:
        return 0
    return min(max(TIME_DIGITS - 1 - math.floor(math.log10(values.min())), 0), TIME_DIGITS - 1)


def intervals(table: pandas.DataFrame, decimals: Sequence[int]) -> list[str]:
    """The intervals of the times in a table, each with its number of decimals."""
    return [
        EMPTY if pandas.isna(low) or pandas.isna(high) else f"{low:,.{places}f}–{high:,.{places}f}"
        for low, high, places in zip(table["time_low_us"], table["time_high_us"], decimals, strict=True)
    ]


def speedups(values: pandas.Series[float]) -> list[str]:
    """Ratios of times as cells: `1.90×`; where a time is more than ten times as long, `71× slower`."""
    return [
        EMPTY if pandas.isna(value) else f"{value:.2f}×" if value >= SMALL_SPEEDUP else f"{1 / value:.0f}× slower"
        for value in values
    ]


def as_csv(table: pandas.DataFrame) -> str:
    """The table for programs: raw numbers, units in the column names, an empty field where there is no value."""
    return str(table.to_csv(index=False, lineterminator="\n"))


def as_markdown(text: TableText) -> str:
    """The table for readers: a heading, where the numbers come from, the formatted rows, their notes."""
    below = _markdown_section(text.below, "###") if text.below else []
    return "\n".join([*_markdown_section(text, "##"), *below])


def _markdown_section(text: TableText, heading: str) -> list[str]:
    names = [
        f"`{kernel}`" + (f" <sup>{','.join(str(mark) for mark in marks)}</sup>" if marks else "")
        for kernel, marks in zip(text.kernels, text.marks, strict=True)
    ]
    return [
        f"{heading} {text.title}",
        "",
        text.provenance,
        "",
        *_markdown_rows([Column("kernel", names, right=False), *_in_brackets(text.columns)]),
        "",
        *(f"<sup>{mark}</sup> {note}  " for mark, note in enumerate(text.notes, start=1)),
        *([""] if text.notes else []),
        " ".join([text.explanation, *_brackets(text.columns)]),
        "",
    ]


def _in_brackets(columns: Sequence[Column]) -> list[Column]:
    """The columns, in which those that follow another stand in its cells: `20.95 (0.87×; 1.42×)`."""
    found: list[list[Column]] = []
    for column in columns:
        if column.follows:
            found[-1].append(column)
        else:
            found.append([column])
    return [
        replace(first, cells=[_bracketed(*cells) for cells in zip(*(one.cells for one in group), strict=True)])
        for group in found
        for first in group[:1]
    ]


def _bracketed(cell: str, *others: str) -> str:
    return cell if set(others) <= {EMPTY} else f"{cell} ({'; '.join(others)})"


def _brackets(columns: Sequence[Column]) -> list[str]:
    """A sentence on what stands in brackets."""
    said = dict.fromkeys(column.follows for column in columns if column.follows)
    return [f"In brackets: {'; '.join(said)}."] if said else []


def _markdown_rows(columns: Sequence[Column]) -> list[str]:
    cells = [[column.header, *column.cells] for column in columns]
    cells = [[text.replace("|", r"\|") for text in column] for column in cells]
    widths = [max(len(text) for text in column) for column in cells]

    def line(texts: Sequence[str]) -> str:
        padded = (
            text.rjust(width) if column.right else text.ljust(width)
            for text, width, column in zip(texts, widths, columns, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = [
        "-" * (width - 1) + ":" if column.right else "-" * width for width, column in zip(widths, columns, strict=True)
    ]
    header, *rows = zip(*cells, strict=True)
    return [line(header), line(rule), *(line(row) for row in rows)]


def as_latex(text: TableText) -> str:
    r"""The table for a paper: a `table` environment with caption and label; needs the packages booktabs and siunitx.

    The label is `tab:` and the title up to its colon, in lower case: `tab:unrolling`. The table `below` follows as a
    `table` of its own, with its title in the label too, since both would be too long for a page.
    """
    names = _latex_names(text)
    main = [column for column in text.columns if not column.apart]
    tables = _tabular(names, main, range(len(names)), text.main_rows)
    apart, rows = _apart(text)
    if rows:
        unmarked = [rf"\texttt{{{escape(kernel)}}}" for kernel in text.kernels]
        tables += ["", r"\medskip", *_tabular(unmarked, apart, rows, text.main_rows)]
    label = _label(text.title)
    lines = [
        r"% Needs \usepackage{booktabs,siunitx} and text 16.5 cm wide. In two-column text, use table*, not table.",
        *_latex_float(text, text.title, label, tables),
    ]
    if text.below:
        title = f"{text.title.rstrip('.')}. {text.below.title}"
        lines += _latex_float(text.below, title, f"{label}-{_label(text.below.title)}", _tabulars(text.below))
    return "\n".join(lines)


def as_short_latex(text: TableText | str) -> str:
    r"""A short table for a column of 3.5 in, as as_latex(), labelled `tab:unrolling-short`; a text as a remark."""
    if isinstance(text, str):
        return f"% {text}\n"
    names = [rf"\texttt{{{_stacked(_lines('_', kernel, NAME_LETTERS), 't', 'l')}}}" for kernel in text.kernels]
    first, *columns = text.columns
    broken = replace(first, cells=["\n".join(_lines("×/", cell, CONFIGURATION_LETTERS)) for cell in first.cells])
    tabular = _tabular(names, [broken, *columns], range(len(names)), text.main_rows)
    lines = [
        r"% Needs \usepackage{booktabs,siunitx}, and a column 3.5 in wide.",
        *_latex_float(text, text.title, f"{_label(text.title)}-short", tabular),
    ]
    return "\n".join(lines)


def _lines(signs: str, text: str, letters: int) -> list[str]:
    """A text broken behind signs into lines of at most so many letters."""
    lines = [""]
    for part in re.findall(f"[^{signs}]*[{signs}]|[^{signs}]+", text):
        if lines[-1] and len(lines[-1] + part) > letters:
            lines.append("")
        lines[-1] += part
    return lines


def _label(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.split(":")[0].lower()).strip("-")


def _latex_names(text: TableText) -> list[str]:
    return [
        rf"\texttt{{{escape(kernel)}}}"
        + (rf"\textsuperscript{{{','.join(str(mark) for mark in marks)}}}" if marks else "")
        for kernel, marks in zip(text.kernels, text.marks, strict=True)
    ]


def _latex_float(text: TableText, title: str, label: str, tables: Sequence[str]) -> list[str]:
    """The lines of a `table` environment around some tabulars."""
    end = "" if title.endswith(("?", ".")) else "."
    footnotes = [rf"\textsuperscript{{{mark}}}\,{escape(note)}" for mark, note in enumerate(text.notes, start=1)]
    return [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{caption(f'{title}{end} {text.provenance}')}}}",
        rf"  \label{{tab:{label}}}",
        r"  \scriptsize",
        r"  \setlength{\tabcolsep}{2pt}",
        *(f"  {line}".rstrip() for line in tables),
        "",
        r"  \smallskip",
        r"  \begin{minipage}{\linewidth}\raggedright",
        *(f"    {line}" + r"\\" for line in footnotes),
        f"    {escape(text.explanation)}",
        r"  \end{minipage}",
        r"\end{table}",
        "",
    ]


def _tabulars(text: TableText) -> list[str]:
    """The lines of as many tabulars as a table's columns need on a narrow page."""
    groups: list[list[Column]] = []
    for column in text.columns:
        if column.follows:
            groups[-1].append(column)
        elif not column.names:
            groups.append([column])
    tables: list[list[Column]] = [[]]
    for group in groups:
        if len(tables[-1]) + len(group) > MOST_COLUMNS:
            tables.append([])
        tables[-1] += group
    names = _latex_names(text)
    naming = [column for column in text.columns if column.names]
    lines: list[str] = []
    for columns in tables:
        lines += ["", r"\medskip"] if lines else []
        lines += _tabular(names, [*naming, *columns], range(len(names)), text.main_rows)
    return lines


def _apart(text: TableText) -> tuple[list[Column], list[int]]:
    """The columns of the second table in LaTeX, and its rows: those with a value there, each once."""
    columns = [column for column in text.columns if column.apart]
    told = [row for row in range(len(text.kernels)) if any(column.cells[row] != EMPTY for column in columns)]
    different: dict[tuple[str, ...], int] = {}
    for row in told:
        different.setdefault((text.kernels[row], *(column.cells[row] for column in columns)), row)
    if len({kernel for kernel, *_ in different}) == len(different):
        return columns, list(different.values())
    return [column for column in text.columns if column.names or column.apart], told


def _tabular(names: Sequence[str], columns: Sequence[Column], rows: Sequence[int], main_rows: int) -> list[str]:
    """The lines of a tabular of some of the rows."""
    body: list[str] = []
    kinds = [_kind(column) for column in columns]
    for row in rows:
        if row >= main_rows and body and r"\midrule" not in body:
            body.append(r"\midrule")
        cells = [_cell(column.cells[row], kind) for column, kind in zip(columns, kinds, strict=True)]
        body.append(" & ".join([names[row], *cells]) + r" \\")
    header = " & ".join(["kernel", *(f"{{{_heading(column)}}}" for column in columns)])
    return [
        rf"\begin{{tabular}}{{@{{}}l{''.join(kinds)}@{{}}}}",
        r"  \toprule",
        rf"  {header} \\",
        r"  \midrule",
        *(f"  {line}" for line in body),
        r"  \bottomrule",
        r"\end{tabular}",
    ]


def _kind(column: Column) -> str:
    """How LaTeX sets a column: at the decimal points where its cells are numbers, else right or left."""
    cells = [cell for cell in column.cells if cell != EMPTY]
    numbers_of = [found for cell in cells if (found := CELL_NUMBER.fullmatch(cell))]
    others = [cell for cell in cells if not CELL_NUMBER.fullmatch(cell)]
    if not column.right or not numbers_of or re.search(r"\d", "".join(others)):
        return "r" if column.right else "l"
    whole, decimals = (max(len(found[part].replace(",", "")) for found in numbers_of) for part in (1, 2))
    uncertain = max(len(found[3] or "") for found in numbers_of)
    unit = max((found[4] for found in numbers_of), key=len)
    form = f"{whole}.{decimals}" if decimals else f"{whole}"
    form += f"({uncertain})" if uncertain else ""
    return f"S[table-format={form}{f',table-space-text-post={{{escape(unit)}}}' if unit else ''}]"


def _heading(column: Column) -> str:
    r"""A column's header on several lines, unit or device below, so that columns stay as narrow as their numbers."""
    first, bracket, second = column.header.partition(" (")
    lines = textwrap.wrap(first, HEADING_LETTERS) + textwrap.wrap(bracket.strip() + second, HEADING_LETTERS)
    return _stacked(lines, "b", "r" if column.right else "l")


def _cell(text: str, kind: str) -> str:
    """A cell on as many lines as it needs, such as the output of a whole warp; bare numbers for siunitx."""
    if kind.startswith("S"):
        found = CELL_NUMBER.fullmatch(text)
        if found is None:
            return f"{{{escape(text)}}}"
        return text.replace(",", "").removesuffix(found[4]) + (f"{{{escape(found[4])}}}" if found[4] else "")
    letters = WORDS_LETTERS if re.search("[a-z]", text) else OUTPUT_LETTERS
    return _stacked([line for part in text.split("\n") for line in textwrap.wrap(part, letters)], "t", "l")


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
    escaped = "".join(LATEX_SPECIAL.get(character, character) for character in text.replace("`", ""))
    return re.sub(
        f"[{''.join(LATEX_SUPERSCRIPTS)}]+",
        lambda match: rf"\textsuperscript{{{''.join(LATEX_SUPERSCRIPTS[digit] for digit in match[0])}}}",
        escaped,
    )
