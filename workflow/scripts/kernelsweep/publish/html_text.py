"""HTML pages that need no other file: each has the style and its scripts in it, and lets nothing else run."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from kernelsweep.publish.html_files import PAGES_FOLDER, STYLE


def html_text(template: Path, title: str, scripts: Sequence[str] = (), **values: Any) -> str:
    """A page by one of html_files' templates, with the values that it names."""
    loader = FileSystemLoader(PAGES_FOLDER)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    known = {"title": title, "scripts": scripts, "style": STYLE.read_text(encoding="utf-8"), "policy": _policy(scripts)}
    return environment.get_template(template.relative_to(PAGES_FOLDER).as_posix()).render(known, **values)


def _policy(scripts: Sequence[str]) -> str:
    """The content security policy of a page with these scripts and nothing from elsewhere."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
