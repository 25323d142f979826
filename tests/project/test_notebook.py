"""`import kernelsweep`: the results as frames, and the example's notebook."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checkout import ROOT
from workflow_runs import share_builds

import kernelsweep as ks
from kernelsweep.errors import UserError

RECORDED = ks.load(ROOT / "resources/recordings/nvidia-h200")

# One process runs the notebook.
pytestmark = pytest.mark.xdist_group("notebook")


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The variables that the cells of the example's notebook leave, run in a copy of its folder."""
    folder = tmp_path_factory.mktemp("checkout")
    ignored = shutil.ignore_patterns("results", ".snakemake", "Snakefile")
    shutil.copytree(ROOT / "examples", folder / "examples", ignore=ignored)
    (folder / "resources").symlink_to(ROOT / "resources")
    share_builds(folder / "examples/own-repository")
    cells = json.loads((ROOT / "examples/notebook.ipynb").read_text())["cells"]
    variables: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder / "examples")
        patch.syspath_prepend(str(folder / "examples"))  # as a notebook's folder is
        patch.delitem(sys.modules, "test_kernels", raising=False)  # tests/device/ has one of that name
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), variables)
        variables["results"].measurements  # noqa: B018  # read before the folder is left
    return variables


def test_the_notebook_runs_and_its_frames_are_typed(ran: dict[str, Any]) -> None:
    rows = ran["rows"]
    assert {str(rows[axis].dtype) for axis in ("width", "tile_width", "samples", "temperature_c")} == {"Int64"}
    assert str(rows["kernel"].dtype) == "category" and "coalesced_reads" in rows["kernel"].cat.categories
    assert rows["flag_noisy"].dtype == bool and "radius" not in rows
    assert (ran["fastest"].groupby("kernel", observed=True).size() >= 4).all()
    assert set(ran["results"].study("axpy")["status"]) == {"ok"}


def test_the_shipped_notebook_has_its_results_and_three_plots() -> None:
    file = ROOT / "examples/notebook.ipynb"
    cells = [cell for cell in json.loads(file.read_text())["cells"] if cell["cell_type"] == "code"]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert all(cell["execution_count"] and cell["outputs"] for cell in cells)
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
    assert file.stat().st_size < 300_000 and "/home/" not in file.read_text() and "file:///" not in file.read_text()


def test_a_figure_is_shown_and_saved(tmp_path: Path) -> None:
    figure = RECORDED.lines("transpose", x="width", by="kernel", show="time_us", width=3.5)
    assert figure._repr_png_().startswith(b"\x89PNG") and "time against matrix size" in repr(figure)
    figure.save(tmp_path / "transpose.pdf")
    assert (tmp_path / "transpose.pdf").read_bytes().startswith(b"%PDF")
    with pytest.raises(UserError, match=r"transpose\.gif is no figure's file"):
        figure.save(tmp_path / "transpose.gif")


def test_kernels_that_are_gone_are_not_among_the_results(ran: dict[str, Any]) -> None:
    points = ran["results"].folder / "points/axpy"
    kernel = sorted(points.iterdir())[0]
    (points / "gone.csv").write_text(kernel.read_text().replace(f",{kernel.stem},", ",gone,"))
    kernels = set(ks.load(ran["results"].folder).study("axpy")["kernel"])
    assert kernels == {path.stem for path in points.iterdir()} - {"gone"}


def test_what_is_not_there_is_said(ran: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"has no study 'axpi'. It has: axpy\."):
        ran["results"].study("axpi")
    assert list(ran["results"].best("axpy")) == ["kernel", "time_us", "time_low_us", "time_high_us", "ties"]
    assert ran["results"].best("axpy").empty and "axpy: 2 kernels, " in repr(ran["results"])
    with pytest.raises(UserError, match=r"has no samples of transpose/vectors\. A recording has none"):
        RECORDED.samples("transpose", "vectors")
    with pytest.raises(UserError, match=r"lines\(\): x is 'with'"):
        RECORDED.lines("transpose", x="with")
    with pytest.raises(UserError, match="axes has 'm'"):  # Nothing was run: no results of an earlier run.
        ks.run(
            ran["results"].folder.parents[1] / "config/studies/axpy.yaml",
            platform="emulator",
            axes={"m": [np.int64(1)]},
        )
    with pytest.raises(UserError, match="has no measurements"):
        ks.load(tmp_path).measurements  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        ks.lode  # noqa: B018
