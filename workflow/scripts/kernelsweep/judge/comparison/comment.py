"""A comparison as a pull request's comment: the verdict, three numbers, and the worst points."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.judge.comparison.text import called_points, headline, point_rows
from kernelsweep.judge.comparison.verdicts import FASTER, SLOWER, ComparedPoint

_LISTED_POINTS = 5


def comment_text(points: Sequence[ComparedPoint], margin: float, unchanged: Sequence[str] = ()) -> str:
    """The comment as Markdown; it lists the slowest points, and no table where none is slower.

    unchanged  as in Sides
    """
    after = [point for point in points if point.after and point.after["status"] != "skipped"]
    wrong = sum(point.fails for point in after)
    timed = [point for point in points if point.ratio]
    slower, faster = (called_points(points, verdict) for verdict in (SLOWER, FASTER))
    lines = [
        f"**{headline(points, margin, unchanged)}**",
        "",
        "| right | slower | faster |",
        "|---:|---:|---:|",
        f"| {len(after) - wrong:,} of {len(after):,} points | {len(slower):,} of {len(timed):,} | "
        f"{len(faster):,} of {len(timed):,} |",
        "",
    ]
    if slower:
        lines += ["The slowest points:", "", *point_rows(slower[:_LISTED_POINTS]), ""]
    return "\n".join(lines)
