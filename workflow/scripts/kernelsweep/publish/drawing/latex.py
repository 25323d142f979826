"""A figure's LaTeX: the picture with its caption and label."""

from __future__ import annotations

from pathlib import Path

from kernelsweep.publish.drawing.layout import Drawing, is_narrow
from kernelsweep.publish.tables.formats import escape


def figure_latex(drawing: Drawing, picture: Path, name: str, view: str = "") -> str:
    """A `figure` environment, across both columns where the picture is that wide; where it is from is a remark.

    picture  the PDF, from the folder of the run
    name     of the label, behind `fig:`
    view     the explorer's address, if it is a view of that
    """
    environment = "figure" if is_narrow(drawing.figure.get_figwidth()) else "figure*"
    lines = [
        *(f"% {' '.join(remark.split())}" for remark in (drawing.source, view) if remark),
        rf"\begin{{{environment}}}",
        r"  \centering",
        rf"  \includegraphics{{{picture.as_posix()}}}",
        rf"  \caption{{{escape(repr(drawing))}}}",
        rf"  \label{{fig:{name}}}",
        rf"\end{{{environment}}}",
    ]
    return "\n".join(lines) + "\n"
