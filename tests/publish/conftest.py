"""One browser for all tests of pages, which run in one process (pytest.mark.xdist_group("page"))."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def driver() -> Iterator[object]:
    """A headless Chromium."""
    import chromium

    with chromium.browser() as driver:
        yield driver
