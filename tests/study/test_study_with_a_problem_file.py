"""Studies whose problem is a Python file: their axes, points, launches and units, and the mistakes in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from checkout import ROOT

from kernelsweep.device.arguments import check_arguments
from kernelsweep.device.point.fit import fitting, of_parameter
from kernelsweep.errors import LaunchError, UserError
from kernelsweep.project.project import Project, load_project
from kernelsweep.results import point_columns, read_parameters
from kernelsweep.study.kernel_sweep import instantiation, units
from kernelsweep.study.kernels.launches import KernelLaunches, launches_of_task
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import kernel_units, listed_points
from kernelsweep.study.settings import Rival
from kernelsweep.sweep.baselines.libraries import as_kernel

STUDY: dict[str, Any] = {
    "title": "Rows and columns",
    "problem": "kernels/own/problem.py",
    "axes": {
        "width": [100, "2^7"],
        "height": [60, 61],
        "tile": [8, 16],
        "dtype": ["float32", "int32"],
        "unroll": [1, 3],
    },
    "platforms": {"emulator": {"axes": {"tile": [4, 8, 16]}}},
    "tied": [["width", "height"]],
    "restrictions": ["tile * unroll <= 16", "dtype == 'float32' or tile == 8"],
    "kernels": [
        {
            "name": "own",
            "macros": ["unroll", {"WIDE": "width > 100"}],
            "constants": ["weights"],
            "launches": [
                {
                    "kernel": "rows<tile, dtype, 2 * tile, short>",
                    "grid": ["width / tile", "height"],
                    "block": "tile",
                    "shared": "4 * tile",
                    "arguments": ["target", "source", "width", 7, "ceil(width / 96) / 4"],
                },
                {"kernel": "columns", "grid": "width / 64", "block": [64, 2], "arguments": ["target", "offset"]},
            ],
        }
    ],
}
PROBLEM = """
import numpy as np

def inputs(random, width, height):
    return {"source": random.random((height, width), np.float32), "weights": np.ones(5, np.float32), "offset": 3}

def outputs(width, height):
    return {"target": ((height, width), np.float32)}

def reference(source):
    return {"target": source.astype(np.float64)}
"""


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Project]:
    """Writes a repository with the study and its problem, and loads it with some axes of the command line."""

    def loaded(study: dict[str, Any] = STUDY, problem: str = PROBLEM, **config: Any) -> Project:
        (tmp_path / "config/studies").mkdir(parents=True, exist_ok=True)
        (tmp_path / "kernels/own").mkdir(parents=True, exist_ok=True)
        (tmp_path / "config/studies/own.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        (tmp_path / "kernels/own/problem.py").write_text(problem)
        (tmp_path / "kernels/own/own.cu").write_text(
            "__constant__ float weights[5];\nconstexpr int of_macros = unroll + WIDE; // WIED, UNROLL\n"
        )
        metrics = yaml.safe_load((ROOT / "config/metrics.yaml").read_text())
        return load_project({**metrics, "platform": "emulator", **config}, tmp_path)

    return loaded


def points_of(project: Project, platform: str = "emulator") -> list[Point]:
    found = listed_points(project.config, project.studies["own"], "own", platform)
    assert found is not None
    return list(found)


def read_by_a_worker(kernel: KernelSource) -> KernelLaunches:
    return launches_of_task(kernel.launches.as_values(), kernel.problem)


def test_the_points_are_those_that_every_restriction_leaves_in_the_axes_order(load: Callable[..., Project]) -> None:
    project = load()
    points = points_of(project)
    assert list(points[0]) == ["cache", "width", "height", "tile", "dtype", "unroll"]
    sides = [(100, 60), (128, 61)]  # tied
    expected = [
        (cache, *side, tile, dtype, unroll)
        for cache in ("cold",)
        for side in sides
        for tile in (4, 8, 16)
        for dtype in ("float32", "int32")
        for unroll in (1, 3)
        if tile * unroll <= 16 and (dtype == "float32" or tile == 8)
    ]
    assert [tuple(point.values()) for point in points] == expected
    assert project.studies["own"].settings.reference == {**points[0], "tile": 8}
    own = points_of(load(axes={"tile": ["8"], "width": [32], "height": [5]}))
    assert {(point["width"], point["height"], point["tile"]) for point in own} == {(32, 5, 8)}


def test_launches_macros_and_units_follow_from_a_point(load: Callable[..., Project]) -> None:
    project = load()
    kernel, points = project.kernel("own", "own"), points_of(project)
    point = next(p for p in points if (p["width"], p["tile"], p["dtype"], p["unroll"]) == (128, 8, "int32", 1))
    plan = kernel.plan(point)
    rows, columns = plan.launches
    assert (rows.grid, rows.block, rows.shared_bytes) == ((16, 61, 1), (8, 1, 1), 32)
    assert (columns.grid, columns.block) == ((2, 1, 1), (64, 2, 1))
    assert rows.arguments == ("target", "source", 128, 7, 0.5)
    assert rows.function == "rows<8, int, 16, short> [unroll=1 WIDE=true]" and plan.constants == ("weights",)
    assert read_by_a_worker(kernel).at(point) == plan, "as a worker reads it"
    assert kernel.plan(point.at(width=129)).launches[0].grid == (17, 61, 1), "grids are rounded up"
    built = kernel_units(project.config, project.studies["own"], "own", "emulator", "emulator")
    assert [unit.macros for unit in built] == [
        {"unroll": unroll, "WIDE": wide} for unroll in ("1", "3") for wide in ("false", "true")
    ]
    assert built == units(kernel, points)
    assert instantiation(kernel, point) == "rows<8, int, 16, short>; columns [unroll=1 WIDE=true]"
    columns_of_point = point_columns(point)
    assert read_parameters(columns_of_point.pop("parameters")) == {"width": "128", "height": "61", "tile": "8"}
    assert columns_of_point == {"cache": "cold", "dtype": "int32", "unroll": 1}
    assert kernel.variant_axes == ["width", "tile", "dtype", "unroll"]
    kernels = [{**STUDY["kernels"][0], "options": ["-O2", "-Xptxas=-O{unroll}", "--maxrregcount={16 * tile}"]}]
    project = load({**STUDY, "kernels": kernels, "axes": {**STUDY["axes"], "toolkit": ["13.0", "12.9"]}})
    kernel, points = project.kernel("own", "own"), points_of(project)
    found = {instantiation(kernel, one).partition("WIDE=true ")[2] for one in points if one["tile"] == 8} - {""}
    assert found == {f"-Xptxas=-O1 --maxrregcount=128 CUDA toolkit={release}]" for release in ("13.0", "12.9")}
    assert kernel.options == ["-O2"] and "toolkit" in kernel.variant_axes


def test_a_search_has_the_points_at_its_place_and_the_emulator_checks_some_of_all(load: Callable[..., Project]) -> None:
    tiles = list(range(1, 65))
    axes = {**STUDY["axes"], "tile": tiles, "unroll": [1]}
    at = {"width": "2^7", "height": 61, "cache": "cold"}
    searching = {
        **STUDY,
        "axes": axes,
        "platforms": {},
        "restrictions": ["tile != 5"],
        "search": {"budget": 9, "at": at},
    }
    models = {"nvidia-h200": {"arch": "sm_90", "resources": {}}}
    project = load(searching, platform="nvidia-h200", gpu_models=models)
    assert {(p["width"], p["height"]) for p in points_of(project, "nvidia-h200")} == {(128, 61)}
    assert len(points_of(project, "nvidia-h200")) == 63 * 2
    # Without times: few points, with every value of every axis, and the study's sizes for the emulator.
    small = {"emulator": {"axes": {"width": [32, 33], "height": [5, 6]}}}
    project = load({**searching, "platforms": small})
    checked, every = points_of(project), {**axes, "width": [32, 33], "height": [5, 6]}
    assert len(checked) <= 2 * 63
    for axis, values in every.items():
        assert {p[axis] for p in checked} == set(values) - ({5} if axis == "tile" else set()), axis
    assert kernel_units(project.config, project.studies["own"], "own", "emulator", "emulator") == units(
        project.kernel("own", "own"), checked
    )


def changed(**changes: Any) -> dict[str, Any]:
    kernel, launch = dict(STUDY["kernels"][0]), dict(STUDY["kernels"][0]["launches"][0])
    for key in ("grid", "block", "shared", "kernel", "arguments"):
        if key in changes:
            launch[key] = changes.pop(key)
            kernel["launches"] = [launch]
    kernel |= {key: changes.pop(key) for key in ("macros", "name", "constants") if key in changes}
    return {**STUDY, "kernels": [kernel], **changes}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"arguments": ["target + 4", "width"]},
            r"unknown name 'target'; .* a scalar np\.array\(\(16,\), \[\(\"target\", np\.uint64\)\]\)",
        ),
        ({"grid": "widht / tile"}, "launches.0.grid: 'widht / tile': unknown name 'widht'; did you mean 'width'?"),
        ({"kernel": "rows tile"}, "'rows tile' is no function. Allowed: a name such as rows"),
        (
            {"macros": ["unroll", {"WIED": "width > 100"}]},
            r"'own': macros has 'WIED', which own\.cu and its headers never name; did you mean 'WIDE'",
        ),
        ({"search": {"budget": 9, "at": {"width": 100}}}, "width, height are tied, so each needs as many values"),
        ({"axes": {**STUDY["axes"], "time_us": [1]}}, "has 'time_us', which is a column of measurements.csv"),
    ],
)
def test_a_mistake_is_a_sentence_before_any_job_starts(
    changes: dict[str, Any], sentence: str, load: Callable[..., Project]
) -> None:
    with pytest.raises(UserError, match=sentence) as raised:
        load(changed(**changes))
    assert re.match(r"config/studies/own\.yaml:\d+: ", str(raised.value)) and len(str(raised.value).splitlines()) <= 3


WITH_LAUNCHES = f"""{PROBLEM}
def launches(kernel, width, tile, Launch):
    assert kernel == "own"
    found = [Launch(grid=[width / tile, 2], block=np.int64(tile), arguments=["target", np.int16(width)], shared=tile)]
    while width > tile:
        width = -(-width // tile)
        found.append(Launch(kernel=f"halve<{{tile}}, dtype>", grid=width, block=tile, arguments=["target", "offset"]))
    return found
"""


def of_function(**changes: Any) -> dict[str, Any]:
    """The study with a kernel that lists no launches."""
    kernel = {key: value for key, value in STUDY["kernels"][0].items() if key != "launches"}
    return {**STUDY, "kernels": [{**kernel, **changes}]}


def test_a_function_may_say_the_launches_and_how_many_there_are(
    load: Callable[..., Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = load(of_function(), WITH_LAUNCHES)
    monkeypatch.chdir(project.root)
    kernel, points = project.kernel("own", "own"), points_of(project)
    point = next(p for p in points if (p["width"], p["tile"], p["dtype"], p["unroll"]) == (100, 4, "float32", 1))
    plan = kernel.plan(point)
    assert [launch.grid for launch in plan.launches] == [(25, 2, 1), (25, 1, 1), (7, 1, 1), (2, 1, 1)]
    assert plan.launches[0].arguments == ("target", np.int16(100)) and plan.launches[0].shared_bytes == 4
    assert [launch.function for launch in plan.launches[:2]] == [
        "own [unroll=1 WIDE=false]",
        "halve<4, float> [unroll=1 WIDE=false]",
    ]
    assert read_by_a_worker(kernel).at(point) == plan, "as a worker reads it"
    assert instantiation(kernel, point) == "own; halve<4, float> [unroll=1 WIDE=false]"
    assert len(kernel.plan(point.at(width=3)).launches) == 1


def test_arguments_name_what_the_problem_has(load: Callable[..., Project]) -> None:
    project = load()
    kernel, first = project.kernel("own", "own"), points_of(project)[0]
    check_arguments(kernel, first, 1, "own.yaml")
    renamed = load(problem=PROBLEM.replace('"offset"', '"ofset"').replace('"weights"', '"weihgts"'))
    with pytest.raises(UserError, match=r"launches\.1\.arguments has 'offset'; did you mean 'ofset'"):
        check_arguments(renamed.kernel("own", "own"), first, 1, "own.yaml")
    misspelt = load(of_function(), WITH_LAUNCHES.replace('"target", "offset"', '"target", "ofset"'))
    with pytest.raises(UserError, match=r"^kernels/own/problem\.py: launches\.1\.arguments has 'ofset'; did you mean"):
        check_arguments(misspelt.kernel("own", "own"), first, 1, "own.yaml")
    call = Rival(call="cub_histogram", arguments=["target", "sorce", "width"])
    rival = as_kernel("cub_histogram", project.studies["own"].problem, call, "own.yaml: rivals")
    with pytest.raises(UserError, match=r"^own\.yaml: rivals: .*arguments has 'sorce'; did you mean 'source'"):
        check_arguments(rival, first, 1, "own.yaml")


@pytest.mark.parametrize(
    ("value", "parameter", "passed"),
    [
        (-1, "i4", np.int32(-1)),
        (2**32 - 1, "u4", np.uint32(2**32 - 1)),
        (0.1, "f8", np.float64(0.1)),
        (-1.25, "b2", np.uint16(0xBFA0)),
        (0, "p8", np.uint64(0)),
        (np.complex64(1j), "s8", np.complex64(1j)),
        (7, "?4", np.uint32(7)),
    ],
)
def test_a_number_takes_the_type_of_the_kernels_parameter(value: float, parameter: str, passed: np.generic) -> None:
    found = of_parameter(value, parameter, "k: the argument n")
    assert isinstance(found, np.generic) and found.tobytes() == passed.tobytes()


@pytest.mark.parametrize(
    ("value", "parameter", "told"),
    [
        (2**32, "i4", "is 4294967296, which doesn't fit into the parameter's 4 bytes"),
        (3.9, "i4", "is not whole. The kernel's parameter is a whole number: write // or ceil()"),
        (1, "p8", "is a number. The kernel's parameter is a pointer"),
        (np.zeros(3), "u8", "is an array. The kernel's parameter is a whole number"),
    ],
)
def test_a_value_of_another_type_is_refused(value: Any, parameter: str, told: str) -> None:
    with pytest.raises(LaunchError, match=re.escape(f"k: the argument n {told}")):
        of_parameter(value, parameter, "k: the argument n")


@pytest.mark.parametrize(
    ("dtype", "parameter", "right"),
    [
        ("float32", "p8 f2", "float16"),
        ("float32", "p8 b2", "bfloat16"),
        ("float64", "p8 f4", "float32"),
        ("float32", "p8 i4", "int32"),
        ("int32", "p8 f4", "float32"),
        ("uint32", "p8 f4", "float32"),
        ("int64", "p8 i4", "int32"),
        ("bool", "p8 u4", "uint32"),
    ],
)
def test_an_array_of_other_numbers_is_refused(dtype: str, parameter: str, right: str) -> None:
    told = f"k: the argument x is an array of {dtype}. The kernel's parameter is a pointer to {right}: give the array"
    with pytest.raises(LaunchError, match=re.escape(told)):
        fitting("k", ["x"], [np.zeros(3)], [parameter], {"x": np.dtype(dtype)})


@pytest.mark.parametrize(
    ("dtype", "parameter"),
    [
        ("int32", "p8 u4"),
        ("float32", "p8"),  # void *, float4 *, unsigned char *
        ("uint64", "p8 u4"),
        ("uint8", "p8 f4"),
        ("uint16", "p8 b2"),
        ("complex64", "p8 f4"),
        ("float32,int32", "p8 f4"),
        ("float16", "p8 f2"),
    ],
)
def test_an_array_that_may_stand_for_others_is_passed(dtype: str, parameter: str) -> None:
    array = np.zeros(3)
    assert fitting("k", ["x"], [array], [parameter], {"x": np.dtype(dtype)}) == [array]
