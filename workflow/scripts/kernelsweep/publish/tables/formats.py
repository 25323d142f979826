"""Tables as Markdown for readers and LaTeX for papers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas

from kernelsweep.base.templates import markdown_table

EMPTY = "–"

# Intervals are about 0.2% of a median, so more digits would be noise.
_TIME_DIGITS = 4

# A number, with its uncertainty in the last digits.
_NUMBER = re.compile(r"-?[\d,]+\.?\d*(\(\d+\))?")

# In LaTeX, a name's letters on a line, and those of a whole line that one column of a paper has room for, shrunk a bit.
NAME_LETTERS, MOST_LETTERS = 20, 80

# LaTeX reads UTF-8, but for exponents.
_LATEX_SPECIAL = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "−": "$-$"},
}
# Lines of a cell, of which the first is on the row's.
STACK = r"\begin{tabular}[t]{@{}l@{}}"
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
    first        in Markdown, another first column than the kernels
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
    kinds = ["S" if any(map(_NUMBER.fullmatch, column.cells)) and column.right else "l" for column in text.columns]
    heads = ["kernel", *(f"{{{_cell(column.header, 'l').replace('[t]', '[b]')}}}" for column in text.columns)]
    kernels = ["\n".join(broken(kernel, NAME_LETTERS, "_")) for kernel in text.kernels]
    names = [_cell(kernel, "l", r"\texttt{%s}") for kernel in kernels]
    parts = [kernels, *([column.header, *column.cells] for column in text.columns)]
    widths = [max(len(line) for cell in part for line in cell.split("\n")) + 2 for part in parts]
    environment = "table*" if sum(widths) > MOST_LETTERS else "table"
    cells = [[_cell(cell, kind) for cell in of.cells] for of, kind in zip(text.columns, kinds, strict=True)]
    names = [r"\midrule " * (number in text.rules) + name for number, name in enumerate(names)]
    rows = [*map(" & ".join, zip(names, *cells, strict=True))]
    words = [f"{word}: {meaning}" for word, meaning in text.words.items()]
    # Rows of several lines need more room between them.
    below = r"\\ \addlinespace[2pt]" if any(STACK in row for row in rows) else r"\\"
    return "\n".join(
        [
            r"% Needs \usepackage{booktabs,graphicx,siunitx}.",
            rf"\begin{{{environment}}}",
            r"  \centering",
            rf"  \caption{{{escape(f'{text.title}{end} {provenance}')}}}",
            rf"  \label{{tab:{label}}}",
            r"  \medskip",
            r"  \small\setlength{\tabcolsep}{4pt}",
            r"  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"  \begin{{tabular}}{{@{{}}l{''.join(kinds)}@{{}}}}",
            r"    \toprule",
            rf"    {' & '.join(heads)} \\",
            r"    \midrule",
            *(f"    {row} {below}" for row in rows),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"  }",
            "",
            rf"  \smallskip {escape(' '.join([*words, text.explanation]))}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


def _cell(text: str, kind: str, look: str = "%s") -> str:
    """A cell, with each line in a look; bare numbers for siunitx."""
    if kind == "S":
        return text.replace(",", "") if _NUMBER.fullmatch(text) else f"{{{escape(text)}}}"
    lines = r" \\ ".join(look % escape(line) for line in text.split("\n"))
    return rf"{STACK}{lines}\end{{tabular}}" if "\n" in text else lines


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
    """A text for LaTeX: the characters that tables use, in ASCII."""
    escaped = "".join(_LATEX_SPECIAL.get(character, character) for character in text.replace("`", ""))
    return re.sub(
        f"[{''.join(_SUPERSCRIPTS)}]+",
        lambda match: rf"\textsuperscript{{{''.join(_SUPERSCRIPTS[digit] for digit in match[0])}}}",
        escaped,
    )
