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
STEPWISE: dict[str, Any] = {
    "file": "stepwise_amd.csv",
    "device": "an AMD GPU",
    "label": "published",
    "compare": "ratios",
    "where": {},
}
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


def test_a_file_without_unroll_factors_has_one_time_for_each_kernel() -> None:
    published = loaded(STEPWISE, RESOURCES)
    assert published is not None
    assert published.compare == "ratios"
    assert len(published.times_us) == 8
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


def test_the_cpus_time_may_come_from_another_run() -> None:
    # The article's table has none; its runs have one each.
    spec = UNROLLING["published"] | {"where": {"run": "table"}, "where_cpu": {"run": "complete"}}
    published = loaded(spec, RESOURCES)
    assert published is not None
    assert published.time_us("cpu", None) == pytest.approx(21427.2)
    assert published.time_us("neighbored", 1) == pytest.approx(555.2), "of the table, not of that run"


def test_metrics_outside_the_table_are_read_beside_its_own() -> None:
    # The article tells its barrier stalls in its text only.
    spec = UNROLLING["published"] | {"where": {"run": "table"}, "where_metrics": {"run": "-"}}
    published = loaded(spec, RESOURCES)
    assert published is not None
    assert published.metric("unrolled", 8, "global_load_efficiency") == 99.21
    assert published.metric("unrolled", 8, "barrier_stall") == 17.2
    assert published.metric("neighbored", 1, "barrier_stall") is None
