"""Values that a user might write by mistake, or to do harm, for generated tests; and what each may end in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from kernelsweep.errors import UserError

WRONG = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=20),
    st.sampled_from(["yes", "2024-01-01", "1e999", "../x", "a" * 5000, 10**30, -1, 0, 1.5, float("nan"), [], {}, [[]]]),
    st.lists(st.one_of(st.integers(), st.text(max_size=5)), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=2),
)

# The same examples each time, which end in time.
generated = settings(
    max_examples=150,
    deadline=10_000,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

_LINES = 12  # one for each mistake


@contextmanager
def accepted_or_refused(*starts: str) -> Iterator[None]:
    """What runs here may be refused by a short message that starts so, without characters that steer a terminal."""
    try:
        yield
    except UserError as error:
        message = str(error)
        assert message.startswith(starts), message
        assert len(message.splitlines()) <= _LINES and len(message) < 2000, message
        assert all(one.isprintable() or one in "\n\t" for one in message), message


def put(content: Any, keys: tuple[str | int, ...], value: Any) -> Any:
    """The content with a value at the end of a path of keys; missing levels are created."""
    if not keys:
        return value
    first, *rest = keys
    if first == 0:
        items = list(content) if isinstance(content, list) and content else [None]
        return [put(items[0], tuple(rest), value), *items[1:]]
    inner = content if isinstance(content, dict) else {}
    return {**inner, first: put(inner.get(first), tuple(rest), value)}


def paths(content: Any, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of keys to each value of a nested object."""
    items: Any = ()
    if isinstance(content, dict | list):
        items = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in items:
        yield (*above, key)
        yield from paths(value, (*above, key))
