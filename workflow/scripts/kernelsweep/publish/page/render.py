"""The page's content, and its rendering as one HTML file: the same content gives the same bytes."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernelsweep.home import COMMAND, GPU_COMMAND, GPU_INSTALLATION
from kernelsweep.judge.comparison.text import VERDICT_LINES
from kernelsweep.judge.data.words import list_texts
from kernelsweep.publish.answer import VISITED_ONCE
from kernelsweep.publish.drawing.palette import map_shades
from kernelsweep.publish.html_text import html_text
from kernelsweep.publish.page.embed import Figure, Link, with_classes
from kernelsweep.publish.page.forest import forest
from kernelsweep.publish.page.markdown import breakable


@dataclass(frozen=True)
class Section:
    """A study, or a chapter that follows the studies.

    name         the anchor by which it is linked to
    description  a study's, as HTML
    parts        its text and tables as HTML, each by the words that it is folded below; not folded below ""
    largest      the step of a study that brought most: its place, and a sentence
    undrawn      why some of its figures are missing
    files        links to its results for programs, its configuration and its kernels, by kind
    """

    name: str
    title: str
    parts: Mapping[str, str]
    files: Mapping[str, Sequence[Link]]
    figures: Sequence[Figure] = ()
    description: str = ""
    largest: Mapping[str, Any] = field(default_factory=dict)
    undrawn: Sequence[str] = ()


def render(title: str, points: Mapping[str, Any], of_outputs: Sequence[str] = (), **values: Any) -> str:
    """The page as HTML.

    points      the timed points by study, for the explorer (explorer.py)
    of_outputs  studies of outputs, which the explorer doesn't have
    values      what template.html names besides, such as `answers`, `studies` and `chapters`
    """
    page = html_text(
        "page/template.html",
        title,
        [_beside("script.js"), *_explorer_scripts(points)],
        page=values,
        of_outputs=of_outputs,
        packed_points=packed(points),
        shades=map_shades(),
        command=COMMAND,
        gpu_command=GPU_COMMAND,
        gpu_installation=GPU_INSTALLATION,
        visited_once=VISITED_ONCE,
        listed=list_texts,
    )
    return with_classes(page)


def comparison_page(
    verdict: Sequence[str], summary: Mapping[str, Any], explored: Mapping[str, Any], **values: Any
) -> str:
    """A page on kernels' times beside those of others as HTML.

    verdict   its lines, the heading first
    summary   what comparison.json or verdict.json has
    explored  the points for the explorer, by study
    values    what comparison.html names besides
    """
    scripts, title = _explorer_scripts(explored), f"kernelsweep: {verdict[0]}"
    known: dict[str, Any] = {
        "packed_points": packed(explored),
        "command": "",
        "heading": verdict[0],
        "lines": verdict[1:],
    }
    known |= {"forest": forest(summary), "within": summary["same_within"], "most_lines": VERDICT_LINES}
    known |= {"breakable": breakable, "shades": map_shades()}
    known["is_failed"] = bool(summary.get("failed") or summary.get("failed_proofs") or summary.get("status") == 1)
    return html_text("page/comparison.html", title, scripts, **known, **values)


def _explorer_scripts(points: Mapping[str, Any]) -> list[str]:
    """The scripts of the explorer, where it has points."""
    # d3.min.js has the parts of the npm package d3 that explorer.js names behind "d3.", under the ISC licence in
    # d3.LICENSE. To make it again: `npm install d3@7 esbuild`, then "export {ascending, ...} from 'd3'" through
    # `npx esbuild --bundle --minify --format=iife --global-name=d3`.
    licence, d3, explorer = map(_beside, ("d3.LICENSE", "d3.min.js", "explorer.js"))
    return [f"/*\n{licence}*/\n{d3}", explorer] if points else []


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def packed(data: Mapping[str, Any]) -> str:
    """The explorer's points as compressed JSON, in letters; empty without any. The same data give the same text."""
    if not data:
        return ""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
