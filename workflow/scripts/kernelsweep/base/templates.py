"""Texts from templates, which lie beside the modules that fill them: code, so that an edit runs a job again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from tabulate import tabulate


@cache
def environment(folder: Path, is_html: bool) -> Environment:
    """The environment of a folder's templates: a value that is missing is an error, and HTML is escaped."""
    made = Environment(
        loader=FileSystemLoader(folder),
        autoescape=is_html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=not is_html,
    )
    made.globals["markdown_table"] = markdown_table
    return made


def markdown(module: str, name: str = "", **values: Any) -> str:
    """The text of the template X.md.j2 beside a module, with the values that it names.

    module  the module's `__file__`
    name    X; by default the module's name
    """
    template = Path(module).with_name(f"{name or Path(module).stem}.md.j2")
    return environment(template.parent, is_html=False).get_template(template.name).render(values)


def markdown_table(heads: Mapping[str, bool], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown.

    heads  whether each column is set right, by its header
    """
    cells = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    sides = ["right" if right else "left" for right in heads.values()]
    return str(tabulate(cells, [*heads], "pipe", colalign=sides, disable_numparse=True))


def sections(entries: Mapping[str, Sequence[str]]) -> str:
    """Lists in Markdown, each under its heading, those without entries left out; "" without any."""
    lists = {title: "\n".join(f"- {entry}" for entry in listed) for title, listed in entries.items() if listed}
    return "\n".join(f"## {title}\n\n{listed}\n" for title, listed in lists.items())
