"""The files of the HTML pages. Every start of the workflow names them, so this imports nothing that draws a page."""

from pathlib import Path

PAGES_FOLDER = Path(__file__).parent

# d3.min.js, which draws the explorer, is version 7.9.2 of the npm package d3, as published, under the ISC licence in
# d3.LICENSE. To renew both: `npm pack d3@7`.
_SCRIPTS = ("script.js", "d3.LICENSE", "d3.min.js", "explorer.js")
SCRIPTS = tuple(PAGES_FOLDER / "page" / name for name in _SCRIPTS)
HEAD, STYLE = PAGES_FOLDER / "page/head.html", PAGES_FOLDER / "page/style.css"
USE = PAGES_FOLDER / "page/use.html"
PAGE_TEMPLATE = PAGES_FOLDER / "page/template.html"
EXPLORER_FILES = tuple(PAGES_FOLDER / "page" / name for name in ("explorer.html", "scripts.html", *_SCRIPTS))
PAGE_FILES = (PAGE_TEMPLATE, USE, HEAD, STYLE, *EXPLORER_FILES)
COMPARISON_TEMPLATE = PAGES_FOLDER / "page/comparison.html"
COMPARISON_FILES = (COMPARISON_TEMPLATE, HEAD, STYLE, *EXPLORER_FILES)
INDEX_TEMPLATE = PAGES_FOLDER / "index/index.html"
