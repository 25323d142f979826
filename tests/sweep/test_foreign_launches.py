"""What published kernels are passed and how they are launched: structures, addresses, constants, the grid's barrier."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from planted import run

from kernelsweep.device.arguments import check_arguments
from kernelsweep.device.outcome import Outcome
from kernelsweep.errors import StudyError, UserError
from kernelsweep.project.project import load_project
from kernelsweep.study.kernels.source import KernelSource
from kernelsweep.study.point import Point
from kernelsweep.study.resolve import listed_points
from kernelsweep.sweep.proof_rows import proof_rows

KERNEL = """
#include <cooperative_groups.h>

struct Body {
    float position[3];
    float mass;
};

struct Given {
    const Body *bodies;
    float *sums;
    int count;
    double offset;
};

__constant__ Given kept;
__constant__ float scale;
__device__ int runs;

__global__ void gather(Body *bodies, Given given, float *const *outputs)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at == 0)
        runs = 1;
    if (at < given.count)
        bodies[at].mass *= scale;
    cooperative_groups::this_grid().sync();
    if (at >= given.count)
        return;
    float sum = runs;
    for (int other = 0; other < kept.count; ++other)
        sum += given.bodies[other].mass;
    kept.sums[at] = sum + given.offset;
    outputs[1][at] = bodies[at].position[1];
}
"""
CLUSTER = """
#include <cooperative_groups.h>

__global__ void ranks(int *y)
{
    __shared__ int block;
    const auto cluster = cooperative_groups::this_cluster();
    const int own = blockIdx.y * gridDim.x + blockIdx.x, rank = cluster.block_rank();
    if (threadIdx.x == 0)
        block = own;
    cluster.sync();
    if (threadIdx.x == 0)
        y[own] = 100 * rank + *cluster.map_shared_rank(&block, (rank + 1) % cluster.num_blocks());
    cluster.sync();
}
"""
PROBLEM = """
import numpy as np

BODY = np.dtype([("position", np.float32, 3), ("mass", np.float32)])
GIVEN = np.dtype(
    [("bodies", np.uint64), ("sums", np.uint64), ("count", np.int32), ("offset", np.float64)], align=True
)


def inputs(random, n):
    bodies = np.zeros(n, BODY)
    bodies["mass"] = random.integers(0, 9, n)
    bodies["position"] = random.random((n, 3), np.float32)
    given = np.array((0, 0, n, 0.5), GIVEN)
    pointers = np.zeros(1, [("sums", np.uint64), ("heights", np.uint64)])
    return {"bodies": bodies, "given": given, "kept": given, "pointers": pointers, "scale": np.float32(2)}


def outputs(n):
    return {"bodies": (n, BODY), "sums": (n, np.float32), "heights": (n, np.float32)}


def result(bodies, sums, heights):
    return {"masses": bodies["mass"], "sums": sums, "heights": heights}


def reference(inputs, n):
    bodies = inputs["bodies"]
    masses = 2 * bodies["mass"].astype(np.float64)
    return {"masses": masses, "sums": np.full(n, 1 + masses.sum() + 0.5), "heights": bodies["position"][:, 1]}
"""
LAUNCH = {"grid": "n / 32", "block": 32, "arguments": ["bodies", "given", "pointers"], "cooperative": True}
STUDY = {
    "title": "Bodies",
    "problem": "kernels/own/problem.py",
    "axes": {"n": [100, 7]},
    "kernels": [{"name": "gather", "constants": ["kept", "scale"], "launches": [LAUNCH]}],
}


def written(folder: Path, files: dict[str, str], study: dict[str, Any] = STUDY) -> tuple[KernelSource, Sequence[Point]]:
    """The first kernel of a study that is written to a repository, and its points."""
    study_file = folder / "config/studies/own.yaml"
    study_file.parent.mkdir(parents=True, exist_ok=True)
    study_file.write_text(yaml.safe_dump(study))
    (folder / "kernels/own").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / "kernels/own" / name).write_text(text)
    project = load_project({"platform": "emulator", "profiling": {"metrics": []}}, folder)
    study_of = project.studies["own"]
    (kernel,) = study_of.kernels.values()
    return kernel, listed_points(project.config, study_of, kernel.name, "emulator")


def outcomes(folder: Path, files: dict[str, str], study: dict[str, Any], target: str) -> list[Outcome]:
    kernel, points = written(folder, files, study)
    return list(run(kernel, list(points), folder, target, visits=2).values())


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in the repository, as jobs do."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["emulator", pytest.param("arch", marks=pytest.mark.gpu)])
def target(request: pytest.FixtureRequest) -> str:
    return "emulator" if request.param == "emulator" else request.getfixturevalue("arch")


def test_a_cooperative_launch_with_structures_addresses_and_constants_is_right(tmp_path: Path, target: str) -> None:
    files = {"gather.cu": KERNEL, "problem.py": PROBLEM}
    found = outcomes(tmp_path, files, STUDY, target)
    assert [(one.status, one.message) for one in found] == [("ok", "")] * 2
    plain = {**STUDY, "kernels": [{**STUDY["kernels"][0], "launches": [{**LAUNCH, "cooperative": False}]}]}  # type: ignore[index]
    if target == "emulator":
        (first, _) = outcomes(tmp_path, files, plain, target)
        assert first.status == "launch_failed" and "the launch is not cooperative" in first.message


def test_a_programmatic_launch_waits_for_what_it_reads(tmp_path: Path, target: str) -> None:
    kernel = """
__global__ void first(int *y)
{
    cudaTriggerProgrammaticLaunchCompletion();
    for (int k = 0; k < 1000; ++k)
        y[blockIdx.x * blockDim.x + threadIdx.x] = k;
}

__global__ void second(int *y)
{
    cudaGridDependencySynchronize();
    y[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
"""
    problem = (
        "import numpy as np\n\ndef outputs(n):\n    return {'y': (n, np.int32)}\n\n"
        "def reference(n):\n    return {'y': np.full(n, 1000)}\n"
    )
    launches = [{"kernel": name, "grid": "n / 64", "block": 64, "arguments": ["y"]} for name in ("first", "second")]
    launches[1]["programmatic"] = True
    study = {**STUDY, "axes": {"n": [4096]}, "kernels": [{"name": "steps", "launches": launches}]}
    source, points = written(tmp_path, {"steps.cu": kernel, "problem.py": problem}, study)
    found = run(source, list(points), tmp_path, target, visits=2)
    assert [(one.status, one.message) for one in found.values()] == [("ok", "")]
    if target == "emulator":
        unchecked = [row for row in proof_rows(source, found, {"variants": {}}, {}) if row["finding"]]
        assert unchecked == []
        late = kernel.replace("    cudaGridDependencySynchronize();\n", "") + "\n// which never waits\n"
        source, points = written(tmp_path, {"steps.cu": late, "problem.py": problem}, study)
        found = run(source, list(points), tmp_path, target, visits=2)
        assert [row["check"] for row in proof_rows(source, found, {"variants": {}}, {}) if row["finding"]] == ["races"]
    launches.reverse()
    with pytest.raises(UserError, match="the first launch is programmatic"):
        written(tmp_path, {"steps.cu": kernel, "problem.py": problem}, study)


def test_bytes_behind_an_array_are_outside_of_it_and_those_between_fields_are_nobodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kernel = """
struct Sample {
    char tag;
    double value;
};

__global__ void samples(const unsigned char *x, Sample *y, int n, int ahead)
{
    __shared__ Sample own[32];
    const int at = blockIdx.x * 32 + threadIdx.x;
    if (at >= n)
        return;
    own[threadIdx.x].tag = 1;
    const int read_before_the_guard = x[at + ahead];
    own[threadIdx.x].value = at + ahead < n ? read_before_the_guard : 0;
    y[at] = own[threadIdx.x];
}
"""
    problem = """
import numpy as np

SAMPLE = np.dtype([("tag", np.int8), ("value", np.float64)], align=True)


def inputs(random, n):
    return {"x": random.integers(0, 9, n, np.uint8)}


def outputs(n):
    return {"y": (n, SAMPLE)}


def result(y):
    return {"tag": y["tag"], "value": y["value"]}


def reference(x, n, ahead):
    return {"tag": np.ones(n), "value": np.append(x[ahead:], np.zeros(ahead)).astype(np.float64)}
"""
    launch = {"grid": "n / 32", "block": 32, "arguments": ["x", "y", "n", "ahead"]}
    axes = {"n": [101], "ahead": [0, 1]}
    study = {**STUDY, "axes": axes, "kernels": [{"name": "samples", "launches": [launch]}]}
    within, beyond = outcomes(tmp_path, {"samples.cu": kernel, "problem.py": problem}, study, "emulator")
    assert (within.status, [mistake.kind for mistake in within.mistakes]) == ("ok", ["indifferent_read"])
    assert beyond.status == "wrong_result" and beyond.message.startswith(
        "the values are right, but thread 4 of block 3"
    )
    assert "x[101] at" in beyond.message and beyond.message.endswith("device buffer x of 101 elements")
    compares_nothing = problem.partition("def result")[0] + "def mistake():\n    return None\n"
    _, beyond = outcomes(tmp_path, {"samples.cu": kernel, "problem.py": compares_nothing}, study, "emulator")
    assert beyond.message.startswith("thread 4 of block 3")


TEXTURES = """
__global__ void textures(float *y, cudaTextureObject_t line, cudaTextureObject_t image,
    cudaTextureObject_t smooth, cudaTextureObject_t colours, cudaTextureObject_t faded, cudaTextureObject_t pairs,
    int n)
{
    const int x = threadIdx.x, row = blockIdx.x;
    const float4 colour = tex2D<float4>(colours, x, row), between = tex2D<float4>(faded, x + 1.0f, row + 0.5f);
    const short2 pair = tex1Dfetch<short2>(pairs, row);
    y[n * n + row * n + x] = colour.x + 10 * colour.w + 100 * (between.y + between.z) + 1e4f * (pair.x - pair.y);
    y[row * n + x] = tex1Dfetch<int>(line, x) + tex1Dfetch<int>(line, x - n) + tex2D<float>(image, x - 0.5f, row + 1.5f)
        + 1000 * tex2D<float>(smooth, x + 0.75f, row + 0.25f);
}
"""
OF_TEXTURES = """
import numpy as np

def inputs(random, n):
    return {
        "line": random.integers(0, 9, n, np.int32), "image": random.integers(0, 9, (n, n)).astype(np.float32),
        "colours": random.integers(0, 9, (n, n, 4)).astype(np.float32),
        "pairs": random.integers(0, 9, (n, 2), np.int16),
    }

def outputs(n):
    return {"y": ((2, n, n), np.float32)}

def reference(line, image, colours, pairs, n):
    at = lambda rows, columns: image[np.clip(rows, 0, n - 1)][:, np.clip(columns, 0, n - 1)]
    k = np.arange(n)
    nearest = at(k + 1, np.maximum(k - 1, 0))
    above, here = (0.75 * at(k - up, k) + 0.25 * at(k - up, k + 1) for up in (1, 0))
    between = (colours + colours[:, np.minimum(k + 1, n - 1)]) / 2
    second = colours[..., 0] + 10 * colours[..., 3] + 100 * (between[..., 1] + between[..., 2])
    second = second + 1e4 * (pairs[:, :1].astype(int) - pairs[:, 1:])
    return {"y": np.stack([line + nearest + 1000 * (0.25 * above + 0.75 * here), second])}
"""


def test_textures_are_made_from_arrays(tmp_path: Path, target: str) -> None:
    arguments = ["y", "texture(line)", "texture(image)", "linear_texture(image)"]
    arguments += ["texture(colours)", "linear_texture(colours)", "texture(pairs)", "n"]
    kernels = [{"name": "textures", "launches": [{"grid": "n", "block": "n", "arguments": arguments}]}]
    study = {**STUDY, "axes": {"n": [32]}, "kernels": kernels}
    files = {"textures.cu": TEXTURES, "problem.py": OF_TEXTURES}
    (found,) = outcomes(tmp_path, files, study, target)
    assert (found.status, found.message) == ("ok", "")
    if target == "emulator":
        arguments[4] = "texture(image)"
        (found,) = outcomes(tmp_path, files, study, target)
        assert "tex2D at " in found.message and "reads 16 bytes of a texture whose texels have 4" in found.message
    arguments[3] = "linear_texture(line)"
    with pytest.raises(StudyError, match="line makes no texture"):
        outcomes(tmp_path, files, study, target)


TENSOR_MAPS = """
#include <cuda.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace bulk = cuda::device::experimental;

__global__ void neighbours(const __grid_constant__ CUtensorMap image, const __grid_constant__ CUtensorMap sums)
{
    __shared__ alignas(128) float tile[SIDE + 2][SIDE + 8];
    __shared__ alignas(128) float result[SIDE][SIDE];
    __shared__ barrier landed;
    const int x = threadIdx.x, y = threadIdx.y, left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
    const bool is_first = x == 0 && y == 0;
    if (is_first) {
        init(&landed, SIDE * SIDE);
        bulk::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (is_first) {
        bulk::cp_async_bulk_tensor_2d_global_to_shared(tile, &image, left - 4, top - 1, landed);
        token = cuda::device::barrier_arrive_tx(landed, 1, sizeof tile);
    } else {
        token = landed.arrive();
    }
    landed.wait(std::move(token));
    result[y][x] = tile[y][x + 4] + tile[y + 2][x + 4] + tile[y + 1][x + 3] + tile[y + 1][x + 5];
    bulk::fence_proxy_async_shared_cta();
    __syncthreads();
    if (is_first) {
        bulk::cp_async_bulk_tensor_2d_shared_to_global(&sums, left, top, result);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }
}
"""
OF_TENSOR_MAPS = """
import numpy as np

def inputs(random, rows, columns):
    return {"image": random.integers(0, 9, (rows, columns)).astype(np.float32)}

def outputs(rows, columns):
    return {"sums": ((rows, columns), np.float32)}

def reference(image):
    wide = np.pad(image, 1)
    return {"sums": wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:]}
"""


def of_tensor_maps(folder: Path, kernel: str, target: str, box: str = "side + 2, side + 8") -> Outcome:
    launch = {
        "grid": ["columns / side", "rows / side"],
        "block": ["side", "side"],
        "arguments": [f"tensor_map(image, {box})", "tensor_map(sums, side, side)"],
    }
    kernels = [{"name": "neighbours", "macros": [{"SIDE": "side"}], "launches": [launch]}]
    study = {**STUDY, "axes": {"rows": [37], "columns": [44], "side": [16]}, "kernels": kernels}
    (found,) = outcomes(folder, {"neighbours.cu": kernel, "problem.py": OF_TENSOR_MAPS}, study, target)
    return found


def test_tiles_are_copied_by_tensor_maps(tmp_path: Path, target: str) -> None:
    found = of_tensor_maps(tmp_path, TENSOR_MAPS, target)
    assert (found.status, found.message) == ("ok", "")


@pytest.mark.parametrize("swizzle", [32, 64, 128])
def test_a_swizzled_tile_has_its_parts_where_a_gpu_has_them(tmp_path: Path, target: str, swizzle: int) -> None:
    row = swizzle // 4
    kernel = f"""
#include <cuda.h>
#include <cuda/barrier>

using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace bulk = cuda::device::experimental;

__global__ void rows(const __grid_constant__ CUtensorMap image, const __grid_constant__ CUtensorMap copy, float *y)
{{
    __shared__ alignas(1024) float tile[16 * {row}];
    __shared__ barrier landed;
    if (threadIdx.x == 0) {{
        init(&landed, 1);
        bulk::fence_proxy_async_shared_cta();
        bulk::cp_async_bulk_tensor_2d_global_to_shared(tile, &image, 0, 0, landed);
        landed.wait(cuda::device::barrier_arrive_tx(landed, 1, sizeof tile));
    }}
    __syncthreads();
    for (int k = threadIdx.x; k < 16 * {row}; k += blockDim.x) {{
        const int part = k / 4 % {row // 4} ^ k / 32 % {row // 4};
        y[k] = tile[k / {row} * {row} + 4 * part + k % 4];
    }}
    __syncthreads();
    if (threadIdx.x == 0) {{
        bulk::cp_async_bulk_tensor_2d_shared_to_global(&copy, 0, 0, tile);
        bulk::cp_async_bulk_commit_group();
        bulk::cp_async_bulk_wait_group_read<0>();
    }}
}}
"""
    problem = (
        "import numpy as np\n\ndef inputs(n):\n"
        "    return {'image': np.arange(16 * n, dtype=np.float32).reshape(16, n)}\n\n"
        "def outputs(n):\n    return {'y': ((16, n), np.float32), 'copy': ((16, n), np.float32)}\n\n"
        "def reference(image):\n    return {'y': image, 'copy': image}\n"
    )
    maps = [f"tensor_map({name}, 16, n, swizzle={swizzle})" for name in ("image", "copy")]
    launch = {"grid": 1, "block": 32, "arguments": [*maps, "y"]}
    study = {**STUDY, "axes": {"n": [row]}, "kernels": [{"name": "rows", "launches": [launch]}]}
    (found,) = outcomes(tmp_path, {"rows.cu": kernel, "problem.py": problem}, study, target)
    assert (found.status, found.message) == ("ok", "")


@pytest.mark.parametrize(
    ("right", "wrong", "status", "message"),
    [
        ("landed.wait(std::move(token));", "", "wrong_result", "sums"),
        ("1, sizeof tile", "1, sizeof tile - 16", "launch_failed", "waits for 16 bytes fewer than copies bring"),
        (
            "1, sizeof tile",
            "1, sizeof tile + 16",
            "launch_failed",
            "for phase 0 of a barrier, which lacks 16 bytes of copies: all",
        ),
        ("bulk::cp_async_bulk_wait_group_read<0>();", "", "wrong_result", "sums"),
        ("left - 4, top - 1", "left - 3, top - 1", "wrong_result", "sums"),
        ("shared(tile,", "shared(tile[1],", "launch_failed", "not in shared memory at a multiple of 128"),
    ],
)
def test_a_mistake_with_a_tensor_map_is_found(
    tmp_path: Path, right: str, wrong: str, status: str, message: str
) -> None:
    assert right in TENSOR_MAPS
    found = of_tensor_maps(tmp_path, TENSOR_MAPS.replace(right, wrong), "emulator")
    assert (found.status, message in found.message) == (status, True), found.message


def test_what_is_no_tensor_map_is_refused(tmp_path: Path) -> None:
    for box, words in {
        "side + 2, side + 7": "image makes no tensor map: it needs",
        "side": "image makes no tensor map",
        "side + 2, side + 8, swizzle=64": "no less than a tile's row has bytes",
    }.items():
        with pytest.raises(StudyError, match=words):
            of_tensor_maps(tmp_path, TENSOR_MAPS, "emulator", box)


def test_a_block_reads_the_memory_of_the_next_one_of_its_cluster(tmp_path: Path, target: str) -> None:
    problem = (
        "import numpy as np\n\ndef outputs(n):\n    return {'y': ((2, n), np.int32)}\n\n"
        "def reference(n):\n    y, x = np.indices((2, n))\n    rank = x % 2 + 2 * y\n    later = (rank + 1) % 4\n"
        "    return {'y': 100 * rank + later // 2 * n + x // 2 * 2 + later % 2}\n"
    )
    launch = {"grid": ["n", 2], "block": 32, "cluster": [2, 2], "arguments": ["y"]}
    study = {**STUDY, "axes": {"n": [64]}, "kernels": [{"name": "ranks", "launches": [launch]}]}
    (found,) = outcomes(tmp_path, {"ranks.cu": CLUSTER, "problem.py": problem}, study, target)
    assert (found.status, found.message) == ("ok", "")


@pytest.mark.parametrize(("old", "new", "message"), [
    ('"scale": np.float32(2)', '"scale": 2', "constants has 'scale', a number without a type: write np.float32(scale)"),
    ('("mass", np.float32)', '("mass", object)', "the field mass has the type object"),
])  # fmt: skip
def test_what_structures_and_constants_need_is_said(tmp_path: Path, old: str, new: str, message: str) -> None:
    kernel, points = written(tmp_path, {"gather.cu": KERNEL, "problem.py": PROBLEM.replace(old, new)})
    with pytest.raises(UserError, match=re.escape(message)):
        check_arguments(kernel, points[0], 1, "own.yaml")


def test_a_grid_that_no_clusters_fill_is_named(tmp_path: Path) -> None:
    study = {**STUDY, "kernels": [{"name": "gather", "launches": [{**LAUNCH, "cluster": [4]}]}]}
    with pytest.raises(UserError, match=r"the grid 1 x 1 x 1 is no multiple of the cluster 4 x 1 x 1 at n 7"):
        written(tmp_path, {"gather.cu": KERNEL, "problem.py": PROBLEM}, study)


@pytest.mark.gpu
def test_more_launches_than_a_stream_holds_are_timed(tmp_path: Path, arch: str) -> None:
    kernel = "__global__ void add(float *x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }"
    problem = (
        "import numpy as np\n\ndef inputs():\n    return {}\n\n"
        "def outputs(n):\n    return {'x': ((n,), np.float32, 0.0)}\n\n"
        "def reference(n, steps):\n    return {'x': np.full(n, float(steps))}\n\n"
        "def launches(n, steps, Launch):\n"
        "    return [Launch(kernel='add', grid=1, block=32, arguments=['x', 'n'])] * steps\n"
    )
    study = {**STUDY, "axes": {"n": [32], "steps": [2, 300, 301, 2046]}, "kernels": [{"name": "add"}]}
    found = outcomes(tmp_path, {"add.cu": kernel, "problem.py": problem}, study, arch)
    assert [(outcome.status, outcome.message) for outcome in found] == [("ok", "")] * 4
    assert all(visit.samples for outcome in found for visit in outcome.visits)


def test_results_in_variables_are_read_back_and_states_there_are_set(tmp_path: Path, target: str) -> None:
    kernel = """
#define MOST 64
static __device__ float d_value[MOST];
__device__ int d_count[2];
__device__ float d_shift;
__constant__ float weight;

__global__ void values(int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d_value[i] = weight * i + d_shift;
    if (i == 0) d_count[0] += n;
}
__global__ void doubled(int n) {
    if (threadIdx.x < n) d_value[threadIdx.x] *= 2;
}
"""
    problem = """
import numpy as np


def inputs(random):
    return {"weight": np.float32(0.5), "d_shift": np.float32(3), "d_count": np.array([10, 20], np.int32)}


def outputs(n):
    return {"d_value": (n, np.float32)}


def reference(d_count, n):
    return {"d_value": np.arange(n) + 6.0, "d_count": d_count + np.array([n, 0])}


def result(d_value, d_count):
    return {"d_value": d_value, "d_count": d_count}
"""
    launches = [{"kernel": "values", "grid": "n / 32", "block": 32, "arguments": ["n"]}]
    launches.append({"kernel": "doubled", "grid": 1, "block": 64, "arguments": ["n"]})
    entry = {"name": "values", "constants": ["weight"], "variables": ["d_value", "d_count", "d_shift"]}
    entry |= {"launches": launches, "updates": ["d_count"], "results": {"d_value": "n", "d_count": 2}}
    study = {**STUDY, "axes": {"n": [40, 64]}, "kernels": [entry]}
    files = {"values.cu": kernel, "problem.py": problem}
    assert [(one.status, one.message, one.leaves_state) for one in outcomes(tmp_path, files, study, target)] == [
        ("ok", "", False)
    ] * 2
    (found, _) = outcomes(tmp_path, {**files, "values.cu": kernel.replace("+= n;", "+= n + 1;")}, study, target)
    assert found.status == "wrong_result" and "d_count" in found.message
    with pytest.raises(UserError, match="the variable d_value has 256 bytes, the problem's array has 260"):
        outcomes(tmp_path, files, {**study, "axes": {"n": [65]}}, target)
