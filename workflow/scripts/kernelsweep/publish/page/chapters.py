"""The chapters that follow the studies: each is one result's Markdown, with the figures that belong to it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chapter:
    """One such chapter; paths are relative to the folder of the platform's or the study's results.

    markdown  the text, which opens with a heading
    missing   the page's sentence where there is no such text, as Markdown
    data      the same result for programs
    needs_rows  whether the page leaves the chapter out where `data` has no rows
    opens_with_finding  whether the text's heading is what it has found, not its title
    """

    title: str
    markdown: str
    missing: str
    data: str
    needs_rows: bool = False
    opens_with_finding: bool = False


# In the page's order.
CHAPTERS = {
    "claims": Chapter(
        title="Claims",
        markdown="claims.md",
        missing="Claims: the published ones were not held against these measurements.",
        data="claims.csv",
        needs_rows=True,
    ),
    "best": Chapter(
        title="Best configurations",
        markdown="best.md",
        missing="Best configurations: none were looked for.",
        data="best.json",
    ),
    "comparison": Chapter(
        title="Before and after",
        markdown="comparison/comparison.md",
        missing="Before and after: nothing was compared; `snakemake compare` does that.",
        data="comparison/comparison.csv",
        opens_with_finding=True,
    ),
    "sanitizer": Chapter(
        title="compute-sanitizer",
        markdown="sanitizer.md",
        missing="compute-sanitizer: not run here; `snakemake sanitize` does that on a GPU.",
        data="sanitizer.csv",
    ),
}
