"""A hook of mkdocs: links from documents to files outside docs/ lead to the repository, where its address is known."""

import re
from pathlib import Path, PurePosixPath
from typing import Any


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """The page's text with such links, or with the words alone."""
    folder = PurePosixPath("docs", page.file.src_uri).parent

    def outside(found: re.Match[str]) -> str:
        parts: list[str] = []
        for part in (folder / found[2]).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        if parts[:1] == ["docs"] or not Path(*parts).exists():
            return found[0]
        if not config.repo_url:
            return found[1]
        return f"[{found[1]}]({config.repo_url}/blob/HEAD/{'/'.join(parts)}{found[3] or ''})"

    return re.sub(r"\[([^]]*)\]\((\.\./[^)#\s]+)(#[^)]*)?\)", outside, markdown)
