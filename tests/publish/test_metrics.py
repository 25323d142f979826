"""Metrics: as they are loaded, shown and recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelsweep.analysis.study_data import load_metrics
from kernelsweep.errors import UserError
from kernelsweep.results import METRIC_COLUMNS, write_rows


def test_metrics_load_with_or_without_what_the_contract_does_not_ask_for(tmp_path: Path) -> None:
    row = {
        **{"study": "s", "kernel": "k", "platform": "p", "array_size": 4, "block_size": 2, "unroll": 1},
        **{"dtype": "int32", "operation": "sum", "cache": "cold", "metric": "branch", "unit": "", "source": "ncu"},
    }
    write_rows(tmp_path / "whole.csv", METRIC_COLUMNS, [{**row, "value": "", "message": "why"}])
    short = [column for column in METRIC_COLUMNS[:13]]
    write_rows(tmp_path / "short.csv", short, [{**row, "value": "2.5", "source": "counted"}])
    found = load_metrics([tmp_path / "whole.csv", tmp_path / "short.csv"])
    assert sorted(found["source"]) == ["counted", "ncu"]
    assert found["value"].isna().sum() == 1 and found["value"].max() == 2.5
    assert set(found["message"]) == {"", "why"}
    write_rows(tmp_path / "wrong.csv", short[:-2], [{key: row[key] for key in short[:-2]}])
    with pytest.raises(UserError, match="no column value, source"):
        load_metrics([tmp_path / "wrong.csv"])
