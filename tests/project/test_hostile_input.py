"""Nothing typed ends in a stack trace, and nothing wrong ends in a yes: faults in a project's files, each refused.

Every fault gets a short message that names the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT, copy_project
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernelsweep.base.code_hash import code_hash
from kernelsweep.errors import UserError
from kernelsweep.project.project import load_project

STUDY = "config/studies/toy.yaml"
CONFIG = "config/config.yaml"
KERNEL = "kernels/toy/doubled.cu"

STUDY_TEXT = """\
title: Toy
problem: kernels/reduction_problem.py
axes: {dtype: [int32], operation: [sum], array_size: [1000, 2000], block_size: [32, 64], unroll: [1, 2]}
kernels:
  - name: doubled
    function: doubled<dtype, operation, unroll>
    launches: [{grid: array_size / block_size, block: block_size, arguments: [data, value, array_size]}]
"""
KERNEL_TEXT = """\
template <typename Element, typename Operation, unsigned unroll>
__global__ void doubled(const Element *data, Element *partials, size_t array_size) {}
"""

LINES = 12  # one for each mistake


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one study of one kernel."""
    project = copy_project(tmp_path_factory.mktemp("hostile"))
    for study in (project / "config/studies").glob("*.yaml"):
        study.unlink()
    content = yaml.safe_load((project / CONFIG).read_text(encoding="utf-8"))
    content |= {"studies": ["toy"], "platform": ["emulator", "nvidia-h200"]}
    content["gpu_models"] = {"nvidia-h200": {"arch": "sm_90"}}
    (project / CONFIG).write_text(yaml.safe_dump(content), encoding="utf-8")
    (project / STUDY).write_text(STUDY_TEXT, encoding="utf-8")
    (project / KERNEL).parent.mkdir()
    (project / KERNEL).write_text(KERNEL_TEXT, encoding="utf-8")
    return project


@pytest.fixture
def toy(prepared: Path) -> Iterator[Path]:
    """The same, put back after a test's change."""
    kept = {name: (prepared / name).read_bytes() for name in (STUDY, KERNEL)}
    yield prepared
    for name, content in kept.items():
        (prepared / name).write_bytes(content)


@pytest.mark.parametrize("name", ["measure_kernel", "a b"])
def test_a_study_that_can_be_no_target(toy: Path, name: str) -> None:
    path = toy / f"config/studies/{name}.yaml"
    path.write_text(STUDY_TEXT, encoding="utf-8")
    try:
        with pytest.raises(UserError, match=rf"^config/studies/{name}.yaml: .* Rename the file"):
            load_project(contents(toy)[CONFIG], toy)
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("axes", {"zebra": [1]}),
        ("platforms", {"emulator": {"axes": {"zebra": [1]}}}),
        ("sweeps", {"quick": {"zebra": [1]}}),
    ],
)
def test_an_axis_that_no_study_has(toy: Path, key: str, value: Any) -> None:
    with pytest.raises(UserError, match=rf"^config/config.yaml .*: {key}.* has 'zebra'. Allowed: cache"):
        load_project({**contents(toy)[CONFIG], key: value}, toy)


def test_a_file_that_is_no_python_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def draw(", encoding="utf-8")
    with pytest.raises(UserError, match=r"mine.py, line 1: not valid Python: .*was never closed"):
        code_hash([file])


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
    max_examples=60,
    deadline=10_000,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@contextmanager
def accepted_or_refused(*starts: str) -> Iterator[None]:
    """What runs here may be refused by a short message that starts so, without characters that steer a terminal."""
    try:
        yield
    except UserError as error:
        message = str(error)
        assert message.startswith(starts), message
        assert len(message.splitlines()) <= LINES and len(message) < 2000, message
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


def keys_of_schema(node: Any, schema: dict[str, Any], above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every key that a schema names, as the way to it; 0 stands for a list's first item."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    for option in (node, *node.get("anyOf", ())):
        if option is not node:
            yield from keys_of_schema(option, schema, above)
        for name, inner in option.get("properties", {}).items():
            yield (*above, name)
            yield from keys_of_schema(inner, schema, (*above, name))
        for name, key in (("items", 0), ("additionalProperties", "emulator")):
            if isinstance(option.get(name), dict):
                yield from keys_of_schema(option[name], schema, (*above, key))


KEYS = [
    (file, key)
    for file, name in ((CONFIG, "config"), (STUDY, "study"))
    for schema in [json.loads((ROOT / f"workflow/schemas/{name}.schema.json").read_text(encoding="utf-8"))]
    for key in dict.fromkeys(keys_of_schema(schema, schema))
]


@cache
def contents(project: Path) -> dict[str, Any]:
    """The configuration, with metrics.yaml, and the study."""
    metrics, config, study = (
        yaml.safe_load((project / one).read_text()) for one in ("config/metrics.yaml", CONFIG, STUDY)
    )
    return {CONFIG: {**metrics, **config}, STUDY: study}


@generated
@given(place=st.sampled_from(KEYS), value=WRONG)
def test_any_value_at_any_key_is_accepted_or_refused_with_a_sentence(
    toy: Path, place: tuple[str, tuple[str, ...]], value: Any
) -> None:
    file, keys = place
    content = contents(toy)
    content = {**content, file: put(content[file], keys, value)}
    (toy / STUDY).write_text(yaml.dump(content[STUDY], Dumper=yaml.CSafeDumper), encoding="utf-8")
    with accepted_or_refused("config/", "kernels/", "platform is ", "there is no recording"):
        load_project(content[CONFIG], toy)
