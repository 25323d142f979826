"""The address of a view of the page's explorer. Imports no matplotlib, since a run that is planned asks for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode

from kernelsweep.errors import UserError, check_known
from kernelsweep.home import COMMAND
from kernelsweep.publish.figure_files import GAIN

# The figures that show the explorer's views; what stands before an axis that has a value, and that value where it is
# free.
VIEWS = {"lines": "lines", "map": "heatmap"}
AT, BEST = "at.", "best"
_START = "explorer?"
# An axis of more values is no map's first choice of those that say how a kernel is launched.
_MOST_CELLS = 16
# What a view may name, besides the values of axes. The page fills in all but the study.
_NAMED = ("study", "view", "show", "baseline", "over", "across", "kernels")


def read_view(address: str) -> dict[str, str]:
    """What a view shows, by the names in its address; the values of its axes are under `at.<axis>`.

    Raises UserError where the address has no view that a figure can show.
    """
    view = {"view": "lines"} | dict(parse_qsl(address.partition(_START)[2]))
    if not view.get("study"):
        example = f"{COMMAND} figure --config view='explorer?study=<study>' width=3.3"
        raise UserError(f"view={address!r} names no study. It is the page's address with its explorer open: {example}")
    for key in (key for key in view if not key.startswith(AT)):
        check_known(key, (*_NAMED, f"{AT}<axis>"), "view: it has")
    if view["view"] == "points":
        raise UserError("view: a figure shows lines or a heat map, not every point. Choose another view.")
    check_known(view["view"], VIEWS, "view: its view is")
    if view["view"] == "lines" and view.get("over") == "kernel":
        raise UserError("view: lines over kernels join what has no order. Choose another axis, or the figure ladder.")
    return view


def whole_address(address: str, study: Mapping[str, Any]) -> str:
    """A view's address with what it leaves out, as the page opens it: complete() of explorer.js.

    study  as page.explorer.explorer_data() gives it
    """
    view, axes = read_view(address), study["axes"]
    several = sorted(axes, key=lambda axis: -len(axis["values"]))
    of_kernel = [axis["name"] for axis in several if axis["of_kernel"]]
    many = {axis["name"] for axis in several if len(axis["values"]) > _MOST_CELLS}
    of_kernel.sort(key=many.__contains__)
    others = [axis for axis in several if not axis["of_kernel"]]
    numbers = [axis["name"] for axis in others if axis["numbers"][0] is not None]
    rest = [*of_kernel, *(axis["name"] for axis in others), "kernel"]
    over = view.get("over", [*(of_kernel if view["view"] == "map" else ()), *numbers, *rest][0])
    across = view.get("across", next((axis for axis in [*of_kernel, "kernel", *rest] if axis != over), over))
    left_out = study["limits"] if view["view"] == "map" and "kernel" not in (over, across) else ()
    usual = {
        "show": GAIN if study["is_close"] and view["view"] == "lines" else next(iter(study["quantities"])),
        "baseline": study["first"],
        "over": over,
        "across": across,
        "kernels": ",".join(kernel for kernel in study["usual"] if kernel not in left_out),
        **{AT + axis["name"]: BEST if axis["reference"] < 0 else axis["values"][axis["reference"]] for axis in axes},
    }
    return address.partition(_START)[0] + _START + urlencode(usual | view)


def view_name(view: Mapping[str, str]) -> str:
    """The name of a view's files, of what its address names: `unrolling-gain-array_size`."""
    names = ("study", "show", "over", *(("across",) if view["view"] == "map" else ()))
    return "-".join(re.sub(r"\W+", "_", view[name]) for name in names if name in view)


def picture_in(address: str) -> tuple[str, str] | None:
    """The study and the step whose picture of accesses an address leads to; None where it is a view."""
    found = re.search(r"/studies/([^/]+)/accesses/([^/]+)\.svg$", unquote(address))
    return (found[1], found[2]) if found else None


def platform_in(address: str) -> str | None:
    """The platform whose page an address leads to; None where it has only the view."""
    found = re.search(r"/results/((?:recording/)?[^/]+)/(?:studies/[^/]+/)?report\.html", unquote(address))
    return found[1] if found else None
