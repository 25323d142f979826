"""The address of a view of the page's explorer. Imports no matplotlib, since a run that is planned asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, unquote

from kernelsweep.errors import UserError, check_known
from kernelsweep.judge.data.words import list_texts

# The figures that show the explorer's views; what stands before an axis that has a value, and that value where it is
# free.
VIEWS = {"lines": "lines", "map": "heatmap"}
AT, BEST = "at.", "best"
# What each view names, besides the values of axes, and what it may name.
_NAMED = ("study", "view", "show", "over", "across", "kernels")
_FURTHER = ("baseline",)


def read_view(address: str) -> dict[str, str]:
    """What a view shows, by the names in its address; the values of its axes are under `at.<axis>`.

    Raises UserError where the address has no view that a figure can show.
    """
    view = dict(parse_qsl(address.partition("explorer?")[2]))
    if missing := [name for name in _NAMED if not view.get(name)]:
        raise UserError(
            f"view={address!r} is no whole view: it lacks {list_texts(missing, len(missing))}. Open the page at it, "
            "and copy the address that the page then has: snakemake figure --config view='<address>' width=3.3"
        )
    for key in (key for key in view if not key.startswith(AT)):
        check_known(key, (*_NAMED, *_FURTHER, f"{AT}<axis>"), "view: it has")
    if view["view"] == "points":
        raise UserError("view: a figure shows lines or a heat map, not every point. Choose another view.")
    check_known(view["view"], VIEWS, "view: its view is")
    if view["view"] == "lines" and view["over"] == "kernel":
        raise UserError("view: lines over kernels join what has no order. Choose another axis, or the figure ladder.")
    return view


def view_name(view: Mapping[str, str]) -> str:
    """The name of a view's files: `unrolling-gain-array_size`."""
    names = ("study", "show", "over", *(("across",) if view["view"] == "map" else ()))
    return "-".join(re.sub(r"\W+", "_", view[name]) for name in names)


def picture_in(address: str) -> tuple[str, str] | None:
    """The study and the step whose picture of accesses an address leads to; None where it is a view."""
    found = re.search(r"/studies/([^/]+)/accesses/([^/]+)\.svg$", unquote(address))
    return (found[1], found[2]) if found else None


def platform_in(address: str) -> str | None:
    """The platform whose page an address leads to; None where it has only the view."""
    found = re.search(r"/results/((?:recording/)?[^/]+)/(?:studies/[^/]+/)?report\.html", unquote(address))
    return found[1] if found else None
