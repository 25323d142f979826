"""A study's figures for LaTeX: an environment each, with its caption and label."""

from __future__ import annotations

from collections.abc import Mapping

from kernelsweep.publish.tables.formats import caption


def captions(study: str, texts: Mapping[str, Mapping[str, str]]) -> str:
    """One `figure*` environment for each figure that shows something, with the label `fig:<study>-<figure>`.

    texts  the title, message and caption of each figure by its name, and `missing` where it is empty
    """
    lines = ["% Needs \\usepackage{graphicx}, and \\graphicspath with this folder.", ""]
    for name, of_figure in texts.items():
        if "missing" in of_figure:
            continue
        words = " ".join(
            f"{of_figure[kind].rstrip('.')}." for kind in ("title", "message", "caption") if of_figure[kind]
        )
        lines += [
            r"\begin{figure*}",
            r"  \centering",
            rf"  \includegraphics{{{name}.pdf}}",
            rf"  \caption{{{caption(words)}}}",
            rf"  \label{{fig:{study.replace('_', '-')}-{name.replace('_', '-')}}}",
            r"\end{figure*}",
            "",
        ]
    return "\n".join(lines)
