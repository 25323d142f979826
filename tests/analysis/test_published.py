"""Published outputs: read as they stand in resources/published, and refused where they can't be."""

from __future__ import annotations

import pytest
from checkout import ROOT

from kernelsweep.analysis.published import PUBLISHED, published_outputs
from kernelsweep.errors import UserError


def test_a_file_that_is_not_there_or_of_another_kind_is_refused() -> None:
    outputs = published_outputs("warp_shuffle_exchanges.csv", ROOT / PUBLISHED)
    assert len(outputs) == 10 and published_outputs(None) == {}
    with pytest.raises(UserError, match=r"did you mean 'warp_shuffle_exchanges\.csv'"):
        published_outputs("warp_shuffle_exchange.csv", ROOT / PUBLISHED)
    with pytest.raises(UserError, match="has no column 'exchange'"):
        published_outputs("claims.csv", ROOT / PUBLISHED)
