"""The files of the HTML pages. Every start of the workflow names them, so this imports nothing that draws a page."""

from pathlib import Path

_NAMES = ("template.html", "style.css", "script.js", "d3.LICENSE", "d3.min.js", "explorer.js")
PAGE_FILES = tuple(Path(__file__).parent / "page" / name for name in _NAMES)
STYLE = PAGE_FILES[1]
INDEX_TEMPLATE = Path(__file__).parent / "index" / "index.html"
