"""The site's pages that are no documents, and links that lead there or to the repository: hooks of mkdocs.

The home page is the README, with the explorer of the recording below it; a page has what `import kernelsweep` offers,
and one the executed notebook.
"""

import json
import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from griffe import Extension
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
# What is a page of the site although it lies elsewhere, or under another name.
PLACES = {"README.md": "index.md", "docs/README.md": "documents.md", "examples/notebook.ipynb": "notebook.md"}
# The study that a document's picture is of, whose figures on its page have a form for phones.
PICTURES = {"lines": "unrolling", "heatmap": "unrolling", "ladder": "warp_shuffle"}
# Wider tables are a list of their rows on a phone.
MOST_COLUMNS = 3
# The results' pages, where a run has made them.
RESULTS, REPORT = ROOT / "results", "pages/recording/nvidia-h200/report.html"
HAS_PAGES = (RESULTS / REPORT.removeprefix("pages/")).is_file()
EXPLORER = f'''
<iframe src="{REPORT}?explorer" title="The explorer of the H200's recording" height="860"></iframe>

<p><a href="{REPORT}">All of the page</a>, and <a href="pages/index.html">all results</a></p>
'''
NO_PAGES = "This copy of the site has no results. `uv run snakemake` makes their pages; then build the site again."


def on_config(config: Any) -> Any:
    """Leave out the link to the results' pages where there are none."""
    if not HAS_PAGES:
        (results,) = (part["Results"] for part in config.nav if "Results" in part)
        del results[0]
    return config


def on_post_build(config: Any) -> None:
    """Put the results' pages into the site, without what no page links to; links to sources lead to the repository."""
    if not HAS_PAGES:
        return
    work = ("build", "builds", "journal", "logs", "made_from", "points", "references", "samples")
    pages = Path(config.site_dir, "pages")
    shutil.copytree(
        RESULTS, pages, ignore=shutil.ignore_patterns(*work, "*_graded", "*.secret", ".*"), dirs_exist_ok=True
    )
    for page in pages.rglob("*.html"):
        text = re.sub(
            r'href="(?:\.\./)+((?:kernels|config|docs|resources)/[^"]*)"',
            rf'href="{config.repo_url}/blob/HEAD/\1"' if config.repo_url else "",
            page.read_text(encoding="utf-8"),
        )
        page.write_text(text, encoding="utf-8")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are made of other files."""
    files.remove(files.get_file_from_path("README.md"))
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PLACES}
    home, rest = texts["README.md"].split("\n## Your kernel", 1)
    explorer = f"## Explore it\n{EXPLORER if HAS_PAGES else NO_PAGES}"
    texts["README.md"] = f"---\nhide: [navigation]\n---\n{home}\n{explorer}\n## Your kernel{rest}"
    texts["examples/notebook.ipynb"] = _notebook(json.loads(texts["examples/notebook.ipynb"]))
    for name, text in texts.items():
        files.append(File.generated(config, PLACES[name], content=_linked(text, PurePosixPath(name).parent, config)))
    files.append(File.generated(config, "api.md", content=_offered()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """A document's text with its links to other files."""
    if page.file.generated_by:
        return markdown
    depth = len(PurePosixPath(page.file.src_uri).parts) - 1
    if HAS_PAGES:
        markdown = re.sub(
            r"`report.html(#explorer\?[^`]*)`",
            rf'<a href="{"../" * (depth + 1)}{REPORT}\1">The same in the explorer</a>.',
            markdown,
        )
    return _linked(markdown, PurePosixPath("docs", page.file.src_uri).parent, config)


def on_page_content(html: str, **_: Any) -> str:
    """A document as HTML: pictures that have a form for phones, and tables whose cells know their column's head."""

    def picture(found: re.Match[str]) -> str:
        figure = f"studies/{PICTURES[found[2]]}/figures/{found[2]}_narrow.svg"
        narrow = f"{found[1]}{Path(REPORT).parent}/{figure}"
        return f'<picture><source media="(max-width: 44rem)" srcset="{narrow}">{found[0]}</picture>'

    def table(found: re.Match[str]) -> str:
        head, rows = found[1], found[2]
        heads = [re.sub(r"<[^>]*>|\"", "", cell).strip() for cell in re.findall(r"(?s)<th\b[^>]*>(.*?)</th>", head)]
        if len(heads) <= MOST_COLUMNS or head.count("<tr") > 1:
            return found[0]

        def row(found: re.Match[str]) -> str:
            named = iter(heads)
            return re.sub(r"<t[dh]\b", lambda cell: f'{cell[0]} data-head="{next(named, "")}"', found[0])

        return found[0].replace(rows, re.sub(r"(?s)<tr.*?</tr>", row, rows))

    if HAS_PAGES:
        html = re.sub(rf'<img [^>]*src="((?:\.\./)*)pictures/({"|".join(PICTURES)})\.svg"[^>]*>', picture, html)
    return re.sub(r"(?s)<table>(.*?)</thead>(.*?)</table>", table, html)


def _linked(text: str, folder: PurePosixPath, config: Any) -> str:
    """A text whose links to files, relative to a folder of the repository, lead to the site's pages or the repository.

    Without the repository's address, the latter are words alone.
    """
    is_document = folder.parts[:1] == ("docs",)

    def target(found: re.Match[str]) -> str:
        parts: list[str] = []
        for part in (folder / found[3]).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        name = "/".join(parts)
        if re.match(r"\w+:", found[3]) or not (ROOT / name).exists():
            return found[0]
        place = PLACES.get(name) or (
            name.removeprefix("docs/") if parts[0] == "docs" and (ROOT / name).is_file() else ""
        )
        if place:
            up = "../" * (len(folder.parts) - 1) if is_document else ""
            return f"{found[1]}[{found[2]}]({up}{place}{found[4] or ''})"
        if not config.repo_url:
            return found[2]
        return f"{found[1]}[{found[2]}]({config.repo_url}/blob/HEAD/{name}{found[4] or ''})"

    return re.sub(r"(!?)\[([^]]*)\]\(([^)#\s]+)(#[^)]*)?\)", target, text)


def _offered() -> str:
    """What `import kernelsweep as ks` offers, by its docstrings."""
    sys.path[:0] = [str(ROOT / "workflow/scripts")]
    from kernelsweep.offered import MODULES

    names = [f"{module}.{name}" for name, module in MODULES.items()]
    # What load() and run() return follows them.
    names.insert(names.index("project.notebook.run") + 1, "project.notebook.PlatformResults")
    parts = [f"::: kernelsweep.{name}\n" for name in names]
    return "\n".join(["# import kernelsweep as ks\n", *parts, "## ks.bounds\n\n::: kernelsweep.bounds\n"])


class Lists(Extension):
    """Makes a list of a docstring's lines `name  what it is`, whose further lines are indented."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Change an object's docstring."""
        if obj.docstring:
            text = obj.docstring.value.replace("<", "&lt;")
            obj.docstring.value = re.sub(r"^(\w+(?:, \w+)*) {2,}(?=\S)", r"- `\1`: ", text, flags=re.MULTILINE)


def _notebook(notebook: dict[str, Any]) -> str:
    """An executed notebook as Markdown."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {"text/plain": output.get("text", "")})
            kind = next(kind for kind in ("image/png", "text/html", "text/plain") if kind in data)
            text = "".join(data[kind]).strip()
            # Tables and output of the notebook look as those of the documents.
            plain = re.sub(r"(?s)<style.*?</style>|(?<=<table) [^>]*|(?<=<tr) [^>]*", "", text)
            plain = plain.replace("<pre>", "<pre><code>").replace("</pre>", "</code></pre>")
            shown = {"image/png": f"![A figure](data:image/png;base64,{text})", "text/html": f"<div>{plain}</div>"}
            parts.append(shown.get(kind, f"```text\n{text}\n```"))
    return "\n\n".join(parts)
