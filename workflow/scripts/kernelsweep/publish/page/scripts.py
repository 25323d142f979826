"""The page's scripts, and the content security policy that lets these run and no other."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any


def packed(data: Mapping[str, Any]) -> str:
    """Data for a script as compressed JSON, in letters. The same data give the same text."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def policy(scripts: Sequence[str]) -> str:
    """The content security policy of a page with these scripts and nothing from elsewhere."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src {allowed}"
