"""HTML pages that need no other file: each has the style and its scripts in it, and lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernelsweep.base.templates import environment
from kernelsweep.judge.data.words import share_text

_FOLDER = Path(__file__).parent


def html_text(template: str, title: str, scripts: Sequence[str] = (), **values: Any) -> str:
    """A page by a template of this folder, such as page/template.html, with the values that it names."""
    style = (_FOLDER / "page/style.css").read_text(encoding="utf-8")
    shared = {"title": title, "scripts": scripts, "style": style, "policy": _policy(scripts)}
    pages = environment(_FOLDER, is_html=True)
    pages.filters["share"] = share_text
    return pages.get_template(template).render(shared, **values)


def macro_text(template: str, macro: str, **values: str) -> str:
    """What a macro of a template of this folder makes of these values, on one line."""
    return str(getattr(environment(_FOLDER, is_html=True).get_template(template).module, macro)(**values)).strip()


def _policy(scripts: Sequence[str]) -> str:
    """The content security policy of a page with these scripts and nothing from elsewhere."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
