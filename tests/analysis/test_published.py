"""Published figures: read as they stand in resources/published, and refused with file and key where they can't be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checkout import ROOT
from synthetic_sweep import UNROLLING

from kernelsweep.analysis.published import Published, load_published
from kernelsweep.errors import UserError
from kernelsweep.sweep.settings import PublishedSettings

RESOURCES = ROOT / "resources/published"
STEPWISE: dict[str, Any] = {"file": "steps.csv", "label": "published", "where": {}}
EXCHANGES: dict[str, Any] = {"file": "warp_shuffle_exchanges.csv", "label": "published", "where": {}}


def loaded(spec: dict[str, Any] | None, folder: Path, of_outputs: bool = False) -> Published | None:
    return load_published(None if spec is None else PublishedSettings.model_validate(spec), folder, of_outputs)


def test_an_ambiguous_or_empty_selection_of_published_rows_is_refused() -> None:
    spec = UNROLLING["published"]
    with pytest.raises(UserError, match=r"published\.where"):
        loaded(spec | {"where": {}}, RESOURCES)
    with pytest.raises(UserError, match=r"published\.where"):
        loaded(spec | {"where": {"run": "no such run"}}, RESOURCES)
    with pytest.raises(UserError, match=r"published\.file"):
        loaded(spec | {"file": "absent.csv"}, RESOURCES)


def test_a_file_without_unroll_factors_has_one_time_for_each_kernel(tmp_path: Path) -> None:
    rows = "a,modulo_baseline,time,ns,1322721\na,modulo_baseline,branch,,25\na,first_add_on_load,time,ns,948001\n"
    (tmp_path / "steps.csv").write_text(f"source,kernel,metric,unit,value\n{rows}")
    published = loaded(STEPWISE, tmp_path)
    assert published is not None and len(published.times_us) == 2
    assert published.time_us("first_add_on_load", 2) == published.time_us("first_add_on_load", 4) == 948.001
    # Where a file has factors, another factor's time is not the kernel's.
    published = loaded(UNROLLING["published"], RESOURCES)
    assert published is not None
    assert published.time_us("unrolled", 8) == 116.6
    assert published.time_us("unrolled", 16) is None


def test_a_file_of_the_wrong_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"published\.file: .*no column exchange, arguments, output; it has source"):
        loaded(EXCHANGES | {"file": "warp_shuffle.csv"}, RESOURCES, of_outputs=True)
    with pytest.raises(UserError, match=r"published\.file: .*no column source"):
        loaded(STEPWISE | {"file": "warp_shuffle_exchanges.csv"}, RESOURCES)
    twice = "exchange,arguments,output\nrotate,offset=2,1 0\nrotate,offset=2,0 1\n"
    (tmp_path / "twice.csv").write_text(twice)
    with pytest.raises(UserError, match=r"several values of rotate offset=2"):
        loaded(EXCHANGES | {"file": "twice.csv"}, tmp_path, of_outputs=True)
