"""The files of the HTML pages, and the policy that lets only a page's own scripts run.

Every start of the workflow names these files, so this imports nothing that draws a page.
"""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

# d3.min.js, which draws the explorer, is version 7.9.2 of the npm package d3, as published, under the ISC licence in
# d3.LICENSE. To renew both: `npm pack d3@7`.
_NAMES = ("template.html", "style.css", "script.js", "d3.LICENSE", "d3.min.js", "explorer.js")
PAGE_FILES = tuple(Path(__file__).parent / "page" / name for name in _NAMES)
STYLE = PAGE_FILES[1]
COMPARISON_TEMPLATE = Path(__file__).parent / "page" / "comparison.html"
INDEX_TEMPLATE = Path(__file__).parent / "index" / "index.html"


def policy(scripts: Sequence[str]) -> str:
    """The content security policy of a page with these scripts and nothing from elsewhere."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
