"""`kernelsweep check`: a file's kernels are watched on the emulator, without a study."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkout import ROOT

from kernelsweep.device.outcome import Outcome
from kernelsweep.errors import UserError
from kernelsweep.project import check as of_check
from kernelsweep.project.check import Given, check_file
from kernelsweep.project.check_points import default_points
from kernelsweep.project.checked import Checked
from kernelsweep.project.command import check
from kernelsweep.project.guess import Guess, guess, kernels_in
from kernelsweep.project.learnt_arrays import Holds, learn
from kernelsweep.project.new_study import start_study
from kernelsweep.reasons import Reason
from kernelsweep.study.point import Point

# What a published file may hold: a wrong guard, a race, host code that gives sizes and launches, unreadable arguments.
FILE = r"""
#include <helper_cuda.h>
#define TILE 16
typedef float real;
__global__ void axpy(real *y, const real *x, real a, int in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i GUARD in) y[i] += a * x[i];
}
template <typename T, int WIDTH>
__global__ void product(T *C, const T *A, const T *B, int m, int n, int k) {
    __shared__ T a[WIDTH][WIDTH + 1];
    const int row = blockIdx.y * WIDTH + threadIdx.y, column = blockIdx.x * WIDTH + threadIdx.x;
    T sum = 0;
    for (int start = 0; start < k; start += WIDTH) {
        const int at = start + threadIdx.x;
        a[threadIdx.y][threadIdx.x] = row < m && at < k ? A[row * k + at] : T(0);
        __syncthreads();
        for (int i = 0; i < WIDTH && start + i < k; ++i)
            if (column < n) sum += a[threadIdx.y][i] * B[(start + i) * n + column];
        AFTER
    }
    if (row < m && column < n) C[row * n + column] = sum;
}
__global__ void structured(struct node *nodes, int n) { nodes[n].x = 0; }
__global__ void gather(int *to, const int *at, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[at[i]];
}
__global__ void halves(unsigned char *to, const unsigned char *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = (from[2 * i] + from[2 * i + 1]) / 2;
}
static int blocks_for(int total, int each) { return (total + each - 1) / each; }
int main(int count, char **words) {
    int size = count > 1 ? atoi(words[1]) : 1 << 26;
    const int threads = 64 * 4;
    axpy<<<blocks_for(size, threads), threads>>>(d_y, d_x, 2.0f, size);
    dim3 block(TILE, TILE);
    dim3 grid((n + block.x - 1) / block.x, m % TILE == 0 ? m / TILE : m / TILE + 1);
    product<float, TILE><<<grid, block, 0, stream>>>(C, A, B, m, n, k);
#define HALVE(to) halves \
        <<<blocks_for(n, threads), threads>>>(to, from, n)
}
"""

# Right kernels that ask for some sizes, as the host's branches, assertions and early returns may say.
ASKS = r"""
__global__ void quads(float *y, const float *x, int n) {
    const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) *reinterpret_cast<float4 *>(&y[i]) = *reinterpret_cast<const float4 *>(&x[i]);
}
__global__ void singles(float *y, const float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
__global__ void flipped(float *y, const float *x, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i ^ (n / 2)];
}
template <int WIDTH> __global__ void reversed(float *y, const float *x, int rows, int width) {
    __shared__ float s[WIDTH];
    s[threadIdx.x] = x[blockIdx.x * width + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * width + threadIdx.x] = s[WIDTH - 1 - threadIdx.x];
}
__global__ void smoothed(float *y, const float *x, int rows, int n, int reach) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = 0;
    for (int i = 0; i < reach; ++i) sum += x[row * n + i];
    for (int i = 0; i < n; ++i) {
        if (i + reach < n) sum += x[row * n + i + reach];
        y[row * n + i] = sum;
        if (i >= reach) sum -= x[row * n + i - reach];
    }
}
__global__ void tiles(float *y, const float *x, int n) {
    y[blockIdx.x * 64 + threadIdx.x] = x[blockIdx.x * 64 + (threadIdx.x + n) % 64];
}
__global__ void either(float *y, const float *x, int n) {
    __shared__ float s[64];
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}
__global__ void counted(int *y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && n % 2) y[i] += 1;
}
void host(float *y, const float *x, int rows, int n, int width, int reach, bool small) {
    if (n % 4 == 0)
        quads<<<(n + 255) / 256, 64>>>(y, x, n);
    else
        singles<<<(n + 63) / 64, 64>>>(y, x, n);
    flipped<<<(n + 63) / 64, 64>>>(y, x, n);
    switch (width) {
    case 64: reversed<64><<<rows, 64>>>(y, x, rows, width); break;
    default: fail();
    }
    smoothed<<<(rows + 31) / 32, 32>>>(y, x, rows, n, reach);
    counted<<<(n + 63) / 64, 64>>>(counts, n);
    if (small) either<<<n / 64, 64>>>(y, x, n);
    else either<<<n / 128, 128>>>(y, x, n);
    if (n % 64 != 0) {
        report(n);
        return;
    }
    tiles<<<n / 64, 64>>>(y, x, n);
}
__global__ void corner(int *y, int n) { y[threadIdx.y * n + threadIdx.x] = 16 * threadIdx.y + threadIdx.x; }
void host_of_corner(int *y, int n) { corner<<<1, dim3(16, 16)>>>(y, n); }
"""


def write(folder: Path, guard: str = "<", after: str = "__syncthreads();") -> Path:
    file = folder / "file.cu"
    file.write_text(FILE.replace("GUARD", guard).replace("AFTER", after))
    return file


def checked(file: Path, kernel: str, **given: object) -> Checked:
    (result,) = check_file(file, kernel, Given(**given))  # type: ignore[arg-type]
    return result


def all_checked(file: Path) -> dict[str, Checked]:
    """The results of a file's kernels, which are compiled together."""
    return {result.kernel: result for result in check_file(file, "", Given())}


def test_the_hosts_code_gives_the_launch_and_the_sizes(tmp_path: Path) -> None:
    axpy, product, of_macro = (guess(write(tmp_path), name) for name in ("axpy", "product", "halves"))
    assert (axpy.grid, axpy.block, [*axpy.axes]) == (["(in_ + 256 - 1) // 256"], ["256"], ["in_"])
    assert of_macro.block == ["256"] and "line 41 launches it in a macro" in of_macro.doubts[0]
    assert (product.function, product.block) == ("product<float, 16>", ["16", "16"])
    assert product.axes == {"m": True, "n": True, "k": True}
    assert [eval(side, {"m": 33, "n": 50}) for side in product.grid] == [4, 3]


def test_a_grid_that_only_the_caller_knows_is_made_up_and_accuses_nobody(tmp_path: Path) -> None:
    file = tmp_path / "blocks.cu"
    kernel = "__global__ void first(float *y, int n) { y[blockIdx.x * 32 + threadIdx.x] = n; }\n"
    made_up = "grid 3, block 32 (made up: the file has none that can be read)"
    for sides, told in (("blocks, 32", made_up), ("zero, 32", made_up), ("zero, zero", "Give --grid and --block")):
        host = f"{{ int zero = 0; ask_driver(&zero); first<<<{sides}>>>(y, n); }}"
        file.write_text(f"{kernel}void host(float *y, int n, int blocks) {host}", "utf-8")
        assert told in repr(result := checked(file, "first"))
        assert result.right == (told == made_up)
    main = tmp_path / "main.cu"
    sides = "dim3 grid, block; grid.x = n; block.y = block.z = grid.y = 1; block.x = 32; grid.x = grid.x / block.x;"
    main.write_text(f'#include "blocks.cu"\nint main() {{ {sides} first<<<grid, block>>>(y, n); }}', "utf-8")
    file.write_text(kernel, "utf-8")
    result = checked(main, "first")
    assert "grid n // 32 x 1 x 1, block 32 x 1 x 1 (as in line 2 of main.cu)" in repr(result), result
    assert next(iter(result.guessed)) == "float *y"
    at = "    const int at = blockIdx.x * blockDim.x + threadIdx.x;\n"
    file.write_text(
        f"__global__ void pass(float *y, int stride) {{\n{at}    y[at + stride] = y[at];\n}}\n"
        f"__global__ void fill(float *y, int n, int m) {{\n{at}    if (at < n * m) y[at] = n;\n}}\n"
        "template <int ROOM> __global__ void copies(float *y) { __shared__ float s[ROOM]; s[threadIdx.x] = 1; }\n"
        "#define RUN(room) copies<room><<<4, 64>>>(y)\n"
    )
    assert (result := checked(file, "pass")).status == 3 and {one.kind for one in result.doubtful} == {"race"}, result
    assert "so that the launch is a guess" in result.doubtful[0].depends
    assert (result := checked(file, "fill")).right and " n * m elements" in repr(result), result
    assert "the template's parameter ROOM in the launch can't be read" in repr(checked(file, "copies"))


def test_a_mode_is_no_size_and_a_grid_has_a_block(tmp_path: Path) -> None:
    (file := tmp_path / "modes.cu").write_text(
        "typedef enum { PLAIN, OTHER } mode_t_;\nenum class How { fast };\n"
        "__global__ void pairs(float *y, const float *x, mode_t_ mode, How how, int n, int bdim) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (mode == PLAIN) y[i] = x[i];\n}\n"
        "void run(float *y, const float *x, int n, dim3 b) {\n"
        "    pairs<<<n / 512, 512>>>(y, x, PLAIN, How::fast, n, b.x);\n}\n"
    )
    found = checked(file, "pairs")
    assert found.right and found.guessed["mode_t_ mode"] == found.guessed["How how"] == "0"
    assert found.guessed["int bdim"] == "512"
    assert all(int(value) >= 512 for value in found.guessed["n"].split(", "))


def test_a_right_kernel_is_not_accused_and_its_results_are_not_called_right(tmp_path: Path) -> None:
    sizes_of = {"axpy": ["in_"], "product": ["m * n", "m * k", "n * k"], "gather": ["n"], "halves": ["n", "2 * n"]}
    found = all_checked(write(tmp_path))
    for kernel, sizes in sizes_of.items():
        result = found[kernel]
        assert (result.status, result.findings, len(result.points)) == (0, [], 3), result
        assert "Results were not judged" in repr(result)
        assert all(f" {size} elements" in repr(result) for size in sizes), result


def test_what_the_sizes_of_arrays_leave_unjudged_is_said_and_judged_once_they_are_given(tmp_path: Path) -> None:
    (file := tmp_path / "far.cu").write_text(
        "__global__ void far(float *y, const float *x, const int *ranks, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i <= n) y[ranks[0] + 3 * i] = 0.5f;\n}\n"
        "void host(float *y, float *x, int *ranks, int n) { far<<<(n + 63) / 64, 64>>>(y, x, ranks, n); }\n"
    )
    result = checked(file, "far")
    assert (result.status, result.unjudged) == (2, ["y", "x"]), result
    told = "on the emulator, but bounds of y, x could not be judged: --elements y=1000,x=1000 gives sizes. Results"
    assert told in repr(result)
    given = checked(file, "far", elements={"y": "3 * n", "x": "1"}, cases=[{"n": 128}, {"n": 100}])
    assert given.status == 3 and "writes y[" in repr(given) and "of 384 elements" in repr(given), given
    right = checked(file, "far", elements={"y": "6 * n + 9", "x": "1"}, cases=[{"n": 100}])
    assert right.right and right.guessed["float *y"] == "written; 6 * n + 9 elements, as given", right
    refused = checked(file, "far", elements={"z": "n"})
    assert "--elements has z=n. Allowed: numbers over n, of y, x, ranks." in repr(refused)


def test_rows_of_any_length_are_told_from_products_of_sizes(tmp_path: Path) -> None:
    (file := tmp_path / "boxes.cu").write_text(
        "__global__ void inside(int *mask, const float *boxes, const float *points, int many, int n, int a, int b) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x, box = blockIdx.y;\n    if (i >= n) return;\n"
        "    mask[box * n + i] = a * b * (points[3 * i] + points[3 * i + 2] < boxes[7 * box + 6]);\n}\n"
        "__global__ void counted(int *y, int n) { if (threadIdx.x < 4) y[threadIdx.x * gridDim.x + blockIdx.x] = n; }\n"
        "void host(int *mask, float *boxes, float *points, int many, int n, int a, int b) {\n"
        "    inside<<<dim3((n + 255) / 256, many), 256>>>(mask, boxes, points, many, n, a, b);\n"
        "    counted<<<(n + 127) / 128, 128>>>(counts, n);\n}\n"
    )
    result = checked(file, "inside")
    assert result.right, result
    for size in ("many * n", "7 * many", "3 * n"):
        assert f" {size} elements" in repr(result), result
    result = checked(file, "counted")
    assert result.right and " 4 * ((n + 127) // 128) elements" in repr(result), result


def test_a_templates_arguments_can_be_named_and_vectors_are_passed_by_value(tmp_path: Path) -> None:
    (file := tmp_path / "scaled.cu").write_text(
        "#include <cuda_fp16.h>\n"
        "template <typename T, typename P> __global__ void scaled(T *y, P x, float2 by, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) { y[i].x = __half2float(x[i]) * by.x; y[i].y = by.y; y[i].z = 1; }\n}\n"
        "template <typename T, typename P> void host(T *y, P x, float2 by, int n) {\n"
        "    scaled<T, P><<<(n + 63) / 64, 64>>>(y, x, by, n);\n}\n"
    )
    refused = checked(file, "scaled")
    assert refused.status == 2 and "Types that can't be read are float: --kernel 'scaled<half, 4>'" in repr(refused)
    result = checked(file, "scaled<float3, const half *>")
    assert result.right and result.guessed["float2 by"] == "0.5", result


def test_a_barrier_that_threads_miss_which_then_end_is_a_note(tmp_path: Path) -> None:
    (file := tmp_path / "guarded.cu").write_text(
        "__global__ void guarded(float *y, const float *x, int n) {\n    __shared__ float s[128];\n"
        "    int i = blockIdx.x * 128 + threadIdx.x;\n    if (i < n) {\n        s[threadIdx.x] = x[i];\n"
        "        __syncthreads();\n        y[i] = s[threadIdx.x];\n    }\n}\n"
        "void run(float *y, float *x, int n) { guarded<<<(n + 127) / 128, 128>>>(y, x, n); }\n"
    )
    result = checked(file, "guarded")
    (note,) = result.notes
    assert (result.status, note.kind, note.points) == (0, "barrier", ("n=1000", "n=37")), result
    assert note.lines == (("guarded.cu:6", "        __syncthreads();"),)
    assert "note: thread 104 of block 7 has ended, and others of its block wait at the barrier" in repr(result)


def test_a_kernel_that_asks_for_some_sizes_is_not_accused_at_others(tmp_path: Path) -> None:
    (file := tmp_path / "asks.cu").write_text(ASKS)
    every = all_checked(file)
    found = {kernel: result for kernel, result in every.items() if kernel not in ("flipped", "either")}
    assert {kernel for kernel, result in found.items() if result.status} == {"corner", "counted"}, found
    assert {kernel: [*result.points] for kernel, result in found.items() if kernel not in ("smoothed", "counted")} == {
        "quads": ["n=512", "n=1000", "n=40"],
        "singles": ["n=513", "n=1001", "n=37"],
        "reversed": ["rows=96, width=64", "rows=75, width=64", "rows=33, width=64"],
        "tiles": ["n=512", "n=1024", "n=64"],
        "corner": ["n=128", "n=100", "n=37"],
    }
    assert all("1048576" not in repr(result) for kernel, result in found.items() if kernel != "counted")
    assert found["smoothed"].guessed["reach"] == "2, 2, 3"
    assert "as in line 55" in every["either"].guessed["launch"]
    doubtful = checked(file, "either", block="128")
    assert doubtful.status == 3 and not doubtful.findings
    assert "which launch is used, that of line 55 or of line 56, depends on what can't be read" in repr(doubtful)
    assert checked(file, "either", grid="n / 128", block="128").status == 1
    file.write_text(ASKS.replace("if (n % 4 == 0)", "").replace("else\n", ""))
    for kernel, asks in (("quads", "multiples of 4"), ("flipped", "powers of two")):
        result = checked(file, kernel)
        assert result.status == 3 and not result.findings and not result.right, result
        assert "not at n=512" in repr(result) and f": it may ask for {asks}\n" in repr(result), result
    assert checked(file, "quads", cases=[{"n": 37}]).status == 1


def test_values_of_floats_may_be_indices(tmp_path: Path) -> None:
    file = tmp_path / "packed.cu"
    text = (
        "__global__ void packed(float *out, const float *x, const float *ranks, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    float rank = ranks[i];\n"
        "    int at = rank - 1;\n    if (i < n) out[INDEX] = x[i];\n}\n"
        "void host(float *out, float *x, float *ranks, int n) {\n"
        "    cudaMalloc(&out, n); packed<<<n / 64, 64>>>(out, x, ranks, n);\n}\n"
    )
    file.write_text(text.replace("INDEX", "at"))
    result = checked(file, "packed", cases=[{"n": 128}])
    assert result.status == 3 and "it may ask for other values in ranks, which may be indices" in repr(result), result
    # Pins: a doubt of an index that no value of ranks moves.
    file.write_text(text.replace("INDEX", "i - 1 + 0 * (rank > 0)").replace("int at", "bool ranked"))
    assert checked(file, "packed", cases=[{"n": 128}]).status == 1
    file.write_text(text.replace("INDEX", "i - 1").replace("= x[i]", "= x[i] * at"))
    assert checked(file, "packed", cases=[{"n": 128}]).status == 1
    file.write_text(
        "__global__ void looked_up(float *y, const float *scales, const float *table, const int *codes, int n) {\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    y[i] = scales[i] * table[codes[i] & 15];\n}\n"
        "void host(float *y, float *scales, float *table, int *codes, int n) {\n"
        "    looked_up<<<(n + 63) / 64, 64>>>(y, scales, table, codes, n);\n}\n"
    )
    result = checked(file, "looked_up")
    assert result.status == 3 and "it may ask for multiples of 64" in repr(result) and "indices" not in repr(result)
    # Pins: a mistake of a histogram of letters in shared memory, whose random bytes are no letters.
    file.write_text(
        "__global__ void letters(int *counts, const char *text, int n) {\n    __shared__ int of[26];\n"
        "    if (threadIdx.x < 26) of[threadIdx.x] = 0;\n    __syncthreads();\n"
        "    atomicAdd(&of[text[threadIdx.x] - 'a'], 1);\n    __syncthreads();\n"
        "    if (threadIdx.x < 26) atomicAdd(&counts[threadIdx.x], of[threadIdx.x]);\n}\n"
        "void host(int *counts, char *text, int n) { letters<<<1, 64>>>(counts, text, n); }\n"
    )
    assert checked(file, "letters").status == 3


def test_a_mistake_is_told_with_its_line_and_where_it_does_not_show(tmp_path: Path) -> None:
    bounds = checked(write(tmp_path, guard="<="), "axpy")
    assert bounds.status == 1 and {one.kind for one in bounds.findings} == {"out of bounds"}
    assert "reads x[1000] at file.cu:7, out of bounds of the device buffer x of 1000 elements" in repr(bounds)
    assert "file.cu:7  if (i <= in) y[i] += a * x[i];" in repr(bounds)
    assert "at in_=1000; not at in_=512" in repr(bounds)
    # Pins: a copy's mistakes, told with the lines of the file of which it is a copy.
    copy = write(tmp_path, guard="<=").rename(tmp_path / "copy.cu")
    assert "copy.cu:7  if (i <= in) y[i] += a * x[i];" in repr(copied := checked(copy, "axpy")), copied
    (file := tmp_path / "rows.cu").write_text(
        "__global__ void rows_(float *x, const float *in, int rows, int columns) {\n"
        "    const int c = blockIdx.x * 128 + threadIdx.x;\n"
        "    if (c <= columns) x[blockIdx.y * columns + c] += in[c];\n}\n"
        "void host(float *x, const float *in, int rows, int columns) {\n"
        "    rows_<<<dim3((columns + 127) / 128, rows), 128>>>(x, in, rows, columns);\n}\n"
    )
    rows = checked(file, "rows_")
    assert {one.kind for one in rows.findings} == {"race", "out of bounds"} and not rows.doubtful, rows
    assert "out of bounds of the device buffer in of" in repr(rows), "and not in_, as Python has to name it"
    race = checked(write(tmp_path, after=""), "product", cases=[{"m": 20, "n": 20, "k": 40}])
    assert [one.kind for one in race.findings] == ["race"] and race.points == ["m=20, n=20, k=40"]


def test_an_arrays_size_is_learnt_from_different_numbers_of_blocks(tmp_path: Path) -> None:
    (file := tmp_path / "halves.cu").write_text(
        "__global__ void halves(float *y, int n) {\n    const int i = blockIdx.x * 1024 + threadIdx.x;\n"
        "    y[i] = n;\n    y[i + 512] = n;\n}\n"
        "void host(float *y, int n) { cudaMalloc(&y, n); halves<<<(n + 1023) / 1024, 512>>>(y, n); }\n"
    )
    result = checked(file, "halves", cases=[{"n": 4096}])
    assert result.right and result.guessed["float *y"] == "written; n elements, as it touches at round sizes", result


def test_a_loop_that_runs_once_too_often_is_no_larger_array(tmp_path: Path) -> None:
    (file := tmp_path / "sums.cu").write_text(
        "__global__ void sums(int *y, const int *x, const int *begins, int rows, int columns) {\n"
        "    int sum = begins[blockIdx.x + 1] - begins[blockIdx.x];\n"
        "    for (int c = threadIdx.x; c <= columns; c += 32) sum += x[blockIdx.x * columns + c];\n"
        "    atomicAdd(&y[blockIdx.x], sum);\n}\n"
        "void host(int *y, int *x, int *b, int rows, int columns) { sums<<<rows, 32>>>(y, x, b, rows, columns); }\n"
    )
    result = checked(file, "sums")
    assert result.guessed["const int *begins"].startswith("read; rows + 1 elements")
    assert result.status == 3 and [one.lines[0][0] for one in result.doubtful] == ["sums.cu:3"], result
    assert "x may have rows * columns + 1 elements" in repr(result)
    # What lies before the start does so whatever the size, if the file shows where the array starts.
    stencil = (
        "__global__ void blur(float *out, float *x, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    if (i < n) out[i] = x[i - 1] + x[i] + x[i + 1];\n}\nvoid host(float *out, int n) {\n    float *x;\n"
        "    cudaMalloc((void **)&x, n * sizeof(float));\n    blur<<<(n + 63) / 64, 64>>>(out, x, n);\n}\n"
    )
    file.write_text(stencil)
    below = checked(file, "blur")
    (found,) = below.findings
    assert below.status == 1 and found.message.startswith("thread 0 of block 0 reads x[-1] at"), below
    file.write_text(
        "__global__ void far(float *a, float *b) {\na[8 << 17] = b[0];\na[9 << 17] = b[9 << 17] = 1;\n}\n"
        "void host(float *a, float *b) { cudaMalloc(&a, size); cudaMalloc(&b, size); far<<<1, 1>>>(a, b); }"
    )
    # It depends on where the two lie which of them it is called.
    assert (result := checked(file, "far")).status == 3, result
    file.write_text(stencil.replace("(out, x, n)", "(out, &x[1], n)"))
    (doubtful,) = checked(file, "blur").doubtful
    assert doubtful.depends == "the launch passes &x[1], which may lie within an array"
    file.write_text(stencil.replace("cudaMalloc((void **)&x, n * sizeof(float));", "x = padded + 1;"))
    assert checked(file, "blur").status == 3


def test_shifts_arrays_of_arguments_branches_and_folders_above_are_read(tmp_path: Path) -> None:
    for folder in ("include/own", "src/deep"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "include/own/one.h").write_text('#include "src/deep/two.h"\n')
    (tmp_path / "src/deep/two.h").write_text("#define ONE 1\n")
    (file := tmp_path / "src/deep/read.cu").write_text(
        '#include "own/one.h"\n#include "math.h"\n#include <cooperative_groups.h>\n'
        "#ifdef IN_DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
        "__global__ void quarters(real *y, int T, int B) {\n"
        "    if (threadIdx.x < T >> 2) y[blockIdx.x * T + threadIdx.x] = ONE;\n}\n"
        "__global__ void all(real *y, int n) {\n"
        "    y[blockIdx.x * 64 + threadIdx.x] = n;\n    cooperative_groups::this_grid().sync();\n}\n"
        "void host(real *y, int T, int B, int n) {\n"
        "    dim3 block(T >> 2);\n    quarters<<<B, block>>>(y, T, B);\n"
        "    void *given[2];\n    given[0] = (void *)&y;\n    given[1] = (void *)&n;\n"
        "    cudaLaunchCooperativeKernel((void *)all, n / 64, 64, given, 0, NULL);\n}\n"
    )
    quarters, every = all_checked(file).values()
    assert quarters.right and quarters.guessed["launch"] == "grid B, block T // 4 (as in line 18)", quarters
    assert "headers" not in quarters.guessed and "include, " in quarters.guessed["folders"], quarters
    assert every.right and every.guessed["real *y"].startswith("written; n elements"), every


def test_what_follows_from_the_block_is_no_size_and_a_part_of_a_block_has_one(tmp_path: Path) -> None:
    # A block's elements, and the bytes for them, were taken for sizes of any value: right kernels were out of bounds.
    (file := tmp_path / "parts.cu").write_text(
        "__global__ void parts(int *y, const int *x, int n, int each) {\n    extern __shared__ int part[];\n"
        "    int i = blockIdx.x * each + threadIdx.x;\n    if (i < n) part[threadIdx.x] = x[i];\n"
        "    __syncthreads();\n    if (i < n) y[i] = part[each - 1 - threadIdx.x];\n}\n"
        "void host(int *y, int *x, int n) {\n    int threads = 64;\n    int each = threads;\n"
        "    int blocks = n / each;\n    if (n % each != 0)\n        blocks += 1;\n"
        "    parts<<<blocks, threads, each * sizeof(int)>>>(y, x, n, each);\n}\n"
    )
    result = checked(file, "parts")
    assert result.guessed["int each"] == "64" and "n + 64 - 1" in result.guessed["launch"], result
    assert [one.lines[0][0] for one in result.findings] == ["parts.cu:6"] and "nothing has" in repr(result), result


def test_a_line_is_the_kernels_where_a_halfs_conversion_reads(tmp_path: Path) -> None:
    (file := tmp_path / "dot.cu").write_text(
        "#include <cuda_fp16.h>\n"
        "__global__ void dot(float *y, const half *__restrict__ a, const half *__restrict__ b, size_t n) {\n"
        "    const size_t row = threadIdx.x / 8;\n    if (row >= 4) return;\n"
        "    const size_t lane = threadIdx.x % 8;\n    float sum = 0.0;\n"
        "    for (size_t i = 0; i < (n + 7) / 8; ++i) {\n"
        "        size_t at = i * 8 + lane;\n        size_t other = i * 8 + lane + row * n;\n"
        "        sum += __half2float(a[at]) * __half2float(b[other]);\n    }\n    y[threadIdx.x] = sum;\n}\n"
        "void host(float *y, half *a, half *b, int n) { dot<<<1, 32>>>(y, a, b, n); }\n"
    )
    result = checked(file, "dot", cases=[{"n": 75}])
    assert repr(result).count("] at dot.cu:10") == 2 and "small_floats" not in repr(result), result


def test_a_launch_that_no_gpu_starts_is_a_mistake(tmp_path: Path) -> None:
    (file := tmp_path / "large.cu").write_text(
        "__global__ void large(float *y, int n) { y[blockIdx.x] = n; }\n"
        "void host(float *y, int n) { dim3 block(1024, 2);\nlarge<<<n, block>>>(y, n); }\n"
    )
    result = checked(file, "large")
    message = "line 3 launches blocks of 1024 x 2 threads; a GPU starts at most 1,024 threads a block"
    assert result.status == 1 and message in repr(result) and "it was not run" in result.verdict, result
    assert checked(file, "large", block="256").right


def test_bounds_are_not_judged_of_an_array_whose_size_is_not_known(tmp_path: Path) -> None:
    (file := tmp_path / "end.cu").write_text(
        "__global__ void end(float *y) { y[(1 << 20) + threadIdx.x] = 1; }\n"
        "void host(float *y) { cudaMalloc(&y, size); end<<<1, 32>>>(y); }\n"
    )
    result = checked(file, "end")
    assert not result.findings and not result.doubtful and "fewer than it touches" in repr(result), result


def test_a_read_that_decides_nothing_hides_no_mistake_beside_it(tmp_path: Path) -> None:
    (file := tmp_path / "beside.cu").write_text(
        "__global__ void beside(int *y, int n) {\n    __shared__ int s[64];\n    s[threadIdx.x + 1] = n;\n"
        "    y[blockIdx.x * 64 + threadIdx.x] = 0 * s[0];\n}\n"
        "void host(int *y, int n) { beside<<<n / 64, 64>>>(y, n); }\n"
    )
    result = checked(file, "beside", cases=[{"n": 128}])
    assert [one.kind for one in result.findings] == ["out of bounds"], result


@pytest.mark.parametrize(("body", "size", "status"), [
    ("bins[data[i]]++", 256, 1),
    ("atomicAdd(&bins[data[i]], 1)", 256, 0),
    ("if (data[i]) *bins = i", 1, 3),  # which may be one thread's
])  # fmt: skip
def test_a_byte_is_one_of_256_indices_so_that_more_of_them_meet(
    tmp_path: Path, body: str, size: int, status: int
) -> None:
    (file := tmp_path / "bins.cu").write_text(
        "__global__ void count(int *bins, const unsigned char *data, int n) {\n"
        f"    int i = blockIdx.x * 256 + threadIdx.x;\n    if (i < n) {body};\n}}\n"
        "void run(int *bins, unsigned char *data, int n) { count<<<(n + 255) / 256, 256>>>(bins, data, n); }\n"
    )
    found = checked(file, "count")
    assert found.status == status and f"; {size} elements" in found.guessed["int *bins"], found


def test_a_lock_is_free_at_first(tmp_path: Path) -> None:
    kernel = """__global__ void total(float *sum, const float *x, int *lock, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return;
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *sum += x[i];
        __threadfence();
        atomicExch(lock, 0);
    }
    void host(float *sum, const float *x, int *lock, int n) { ZERO total<<<(n + 31) / 32, 32>>>(sum, x, lock, n); }
    """
    (file := tmp_path / "total.cu").write_text(kernel.replace("ZERO", "cudaMemset(lock, 0, 4);"))
    result = checked(file, "total")
    assert result.right and result.guessed["int *lock"].startswith("updated, zeros at first; 1 elements"), result
    file.write_text(kernel.replace("ZERO", ""))  # Only a run tells that it is a lock, and that is slow.

    def run(_: Guess, points: Sequence[Mapping[str, int]], holds: Mapping[str, Holds]) -> dict[Point, Outcome]:
        waits = Outcome("launch_failed", reason=Reason.BARRIER)
        return {Point(points[0]): Outcome("ok", touched={"lock": 1}) if holds["lock"].zeros else waits}

    assert {name for name, of in learn(guess(file), run)[1].items() if of.zeros} == {"lock"}


def test_what_the_host_hides_is_made_up_and_said(tmp_path: Path) -> None:
    header = "#ifndef REAL_H\n#define REAL_H\ntypedef double real;\n__global__ void other(real *y) {}\n#endif\n"
    (tmp_path / "real.h").write_text(header)
    (file := tmp_path / "taps.cu").write_text(
        '#include "real.h"\n__global__ void taps(real *y, const real *x, const int *at, int L, int rows, int K) {\n'
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= L * rows) return;\n    real sum = 0;\n"
        "    for (int k = 0; k < K; ++k) sum += x[at[i] * K + k];\n    y[i] = sum;\n}\n"
        "template <int THREADS> __global__ void turned(int *y, int n) {\n    __shared__ int s[64];\n"
        "    s[threadIdx.x] = y[threadIdx.x];\n    __syncthreads();\n    y[threadIdx.x] = s[n - 1 - threadIdx.x];\n}\n"
        "__global__ void parts(int *y, int n) { y[blockIdx.x * blockDim.x * blockDim.y + threadIdx.x] = n; }\n"
        "void host(dim3 &sides, int rows, int threads) {\n    int k = weight.size(1);\n    const int n = 64;\n"
        "    taps<<<(sides.x * rows + 63) / 64, 64>>>(y, x, at, sides.x, rows, k);\n"
        "    turned<threads><<<1, n>>>(y, n);\n    parts<<<999, dim3(32, threads / 32)>>>(y, n);\n}\n"
    )
    taps, turned, parts = all_checked(file).values()
    assert taps.right and "0" not in taps.guessed["K"].split(", "), taps
    assert guess(file, "taps").parameters[0].dtype == "float64"
    assert taps.guessed["const real *x"].startswith("read; min(L, rows, K) * K elements"), taps
    assert turned.right and turned.guessed["THREADS"].startswith("128 (made up: the file has none"), turned
    assert parts.right and parts.guessed["threads"].startswith("128 (made up: the file has none"), parts
    (file := tmp_path / "main.cu").write_text('#include "taps.cu"\n#include "real.h"\n')
    assert [*kernels_in(file)] == ["taps", "turned", "parts", "other"]


def test_only_a_slow_launch_of_the_files_has_fewer_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "blocks.cu").write_text(
        "__global__ void far(float *y) {\n    __shared__ float s[64];\n"
        "    s[threadIdx.x + (blockIdx.x == 6 ? 900000000 : 0)] = 1;\n    y[blockIdx.x * 64 + threadIdx.x] = s[0];\n}\n"
        "__global__ void sum(float *y) { *y += 1; }\nvoid host() { far<<<8, 64>>>(y); sum<<<8000000, 32>>>(y); }\n"
    )
    monkeypatch.setattr(of_check, "_SECONDS", 1.0)
    far, total = all_checked(file).values()
    assert far.status == 1 and "block 6: memory access out of bounds" in far.findings[0].message, far
    assert total.status == 1 and total.guessed["launch"] == "grid 4, block 32 (as in line 7, with fewer blocks)", total
    given = checked(file, "sum", grid="8000000,", block=" 32")
    assert given.status == 1 and given.guessed["launch"] == "grid 8000000, block 32 (given)", given


def test_a_slow_kernel_is_checked_at_small_sizes(tmp_path: Path) -> None:
    (file := tmp_path / "slow.cu").write_text(
        "template <int D> __global__ void slow(float *y, const float *x, int n) {}\n"
        "void host(float *y, const float *x, int batch, int heads, int n) {\n"
        "    dim3 grid((n + 31) / 32, batch * heads);\n    slow<32><<<grid, 32>>>(y, x, n);\n}\n"
    )

    def run(_: Guess, points: Sequence[Mapping[str, int]], holds: Mapping[str, Holds]) -> dict[Point, Outcome]:
        elements = 32 * prod(points[0].values())
        is_slow = elements > 2**14
        return {Point(points[0]): Outcome("timed_out") if is_slow else Outcome("ok", touched={"y": elements})}

    guessed, holds = learn(guess(file, supposed=True), run)
    assert eval(holds["y"].size, {"n": 7, "batch": 5, "heads": 3}) == 32 * 7 * 5 * 3
    assert [point["n"] for point in default_points(guessed)] == [64, 250, 10]


def test_a_kernel_that_takes_long_is_checked_at_fewer_points(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def learnt(*call: Any) -> Any:
        made = real(*call)
        for name in ("MOST_SECONDS", "_START_SECONDS"):
            monkeypatch.setattr(of_check, name, 0.0)
        return made

    real = of_check.learnt
    monkeypatch.setattr(of_check, "learnt", learnt)
    result = checked(write(tmp_path, guard="<="), "axpy")
    assert len(result.points) == 1 and [*result.unchecked.values()] == ["not run, because 0 s were over"] * 2, result
    assert not result.findings and "No" in result.verdict  # No further sizes have shown that it is a mistake.


def test_names_of_the_hosts_that_follow_from_each_other_end(tmp_path: Path) -> None:
    (file := tmp_path / "cycle.cu").write_text(
        "__global__ void fill(float *y, int n) { y[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n"
        "void host(float *y, int n) {\n"
        "    a = b + b + c + c + d;\n    b = a + a + c + d + d;\n    c = a + b + a + b + d;\n    d = a + b + c + a;\n"
        "    fill<<<(d + 31) / 32, 32>>>(y, d);\n}\n"
    )
    assert guess(file).block == ["32"]


def test_points_have_blocks_and_rows_that_fit(tmp_path: Path) -> None:
    (file := tmp_path / "fits.cu").write_text(
        "__global__ void pool(float *y, int h, int w, int k) {}\n"
        "__global__ void scale(double *a, int ld, int n) {}\n"
        "template <typename T, typename F> __global__ void keep(T *y, F f, int n) {}\n"
        "void host(float *y, double *a, int h, int w, int k, int ld, int n) {\n"
        "    pool<<<dim3((w / k + 15) / 16, (h / k + 15) / 16), dim3(16, 16)>>>(y, h, w, k);\n"
        "    scale<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(a, ld, n);\n"
        "    keep<<<(n + 31) / 32, 32>>>(y, Positive{}, n);\n}\n"
    )
    for point in default_points(guess(file, "pool")):
        assert point["w"] >= point["k"] <= point["h"]
    assert all(point["ld"] > point["n"] for point in default_points(guess(file, "scale")))
    assert "no argument can be made for `F f`" in repr(checked(file, "keep"))


def test_an_array_that_is_only_read_is_no_output_without_const_too(tmp_path: Path) -> None:
    (file := tmp_path / "filter.cu").write_text(
        "__global__ void filter(float *y, float *x, int *at, float *a, float *b, float *c, float *d, int *e, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    int2 two = ((int2 *)e)[i];\n    float *moved = a + 1, &bound = b[i];\n"
        "    if (i < n && x[i] == 0) { y[i] += -x[at[i]] / 2; atomicAdd(&c[i], 1.0f); swap(d[0], d[i]); }\n}\n"
    )
    assert [one.name for one in guess(file, "filter").arrays if not one.written] == ["x", "at", "e"]


def test_another_order_shows_a_lost_update_in_steps(tmp_path: Path) -> None:
    (file := tmp_path / "count.cu").write_text(
        "__global__ void count(int *total, int n) {\n    int old = atomicAdd(total, 0);\n"
        "    atomicExch(total, old + 1);\n}\n"
        "void host(int *total, int n) { count<<<n / 64, 64>>>(total, n); }\n"
    )
    case = [{"n": 128}]
    assert checked(file, "count", cases=case).right
    (found,) = checked(file, "count", cases=case, seeds=3).doubtful
    steps = re.findall(r"thread (\d+) of block 0 at count.cu:(\d)", found.message)
    assert steps == [("0", "2"), ("1", "2"), ("0", "3"), ("1", "3")], found
    file.write_text(file.read_text().replace("atomicExch(total, old + 1);", "atomicAdd(total, 1);"))
    assert checked(file, "count", cases=case, seeds=8).right


def test_what_cannot_be_checked_is_said_and_what_is_given_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (half := tmp_path / "half.cu").write_text("__global__ void keep(nv_bfloat16 *y, int n) { y[n] = y[0]; }\n")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)  # It is not installed, as after `uv tool install`.
    result = checked(half, "keep", grid="n", block="32")
    assert "`nv_bfloat16 *y` has the type bfloat16, which needs the package ml_dtypes" in repr(result)
    result = checked(write(tmp_path), "structured")
    assert result.status == 2 and "no argument can be made for `struct node *nodes`" in repr(result)
    (file := tmp_path / "tile.cu").write_text(
        "__global__ void copy(float *y, const float *x, int n) { y[blockIdx.x * TILE + threadIdx.x] = 0; }"
    )
    assert "Give --grid and --block, over n." in repr(checked(file, "copy", options=["-DTILE=32"]))
    given = checked(file, "copy", options=["-DTILE=32"], grid="n / 32", block="32", cases=[{"n": 64}, {"n": 40}])
    assert given.status == 1 and "writes y[40]" in repr(given) and "at n=40; not at n=64" in repr(given)


def test_a_kernel_that_an_if_leaves_out_is_said_to_be(tmp_path: Path) -> None:
    (file := tmp_path / "built.cu").write_text(
        '#include "config.h"\n#if BUILD_IT\n'
        "__global__ void built(int *y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }\n"
        "void host(int *y, int n) { built<<<1, 64>>>(y, n); }\n#endif\n"
    )
    assert "nothing that is compiled declares built: an #if leaves it out" in repr(checked(file, "built"))
    assert checked(file, "built", options=["-DBUILD_IT=1"]).right


def test_the_command_leaves_no_file_and_its_status_says_what_was_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path, guard="<=")
    assert check([str(file), "--kernel", "axpy", "--json", "--case", "in_=1000"]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert record["kernel"] == "axpy" and record["findings"][0]["lines"][0][0] == "file.cu:7"
    # Else NumPy's threads keep workers from being forks.
    program = "from kernelsweep.project import command; assert 'numpy' not in command.sys.modules; command.main()"
    run = [sys.executable, "-c", program, "check", "file.cu"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow/scripts")}
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and done.stdout.count("elements, as it touches") >= 6, done.stdout + done.stderr
    assert [*tmp_path.iterdir()] == [file]
    missing = subprocess.run([*run[:-1], "missing.cu"], cwd=tmp_path, capture_output=True, env=environment)
    assert missing.returncode == 2 and missing.stderr == b"missing.cu: no such file.\n"


def test_what_refuses_several_kernels_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "{ const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = helper(i); }\n"
    kernels = "".join(f"__global__ void {name}(float *y, int n) {body}" for name in ("one", "two"))
    (file := tmp_path / "both.cu").write_text("__device__ float helper(int i) { return missing(i); }\n" + kernels)
    assert check([str(file)]) == 2
    printed = capsys.readouterr().out
    assert printed.count("'missing' was not declared") == 1 and "not checked: for the same reason as one." in printed
    assert sum(not line.startswith("  ") for line in printed.splitlines()) == 2, printed


def test_a_files_flags_are_those_of_compile_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("src", "include", "build"):
        (tmp_path / folder).mkdir()
    (tmp_path / "include/scaled.h").write_text("#define SCALED(x) (FACTOR * (x))\n")
    (tmp_path / "build/includes.rsp").write_text("-I../include\n")
    (file := tmp_path / "src/scale.cu").write_text(
        '#include "scaled.h"\n__global__ void scale(float *y, const float *x, int n)\n{\n'
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = SCALED(x[i]);\n}\n"
        "void run(float *y, const float *x, int n) { scale<<<(n + 127) / 128, 128>>>(y, x, n); }\n"
    )
    command = "nvcc -DFACTOR=3 --options-file includes.rsp -O3 -std=c++20 -x cu -c ../src/scale.cu"
    entry = {"directory": str(tmp_path / "build"), "command": command, "file": "../src/scale.cu"}
    (tmp_path / "build/compile_commands.json").write_text(json.dumps([entry]))
    monkeypatch.chdir(tmp_path)
    result = checked(file, "scale")
    assert result.right, result
    flags = f"-DFACTOR=3 -I{tmp_path}/include -std=c++20 (with build/compile_commands.json)"
    assert result.guessed["flags"] == flags and "headers" not in result.guessed
    told = " Options are build/compile_commands.json's.\nFirst write the right results into `reference` of "
    assert f"{told}kernels/scale/problem.py.\n" in start_study(["scale", "src/scale.cu"])
    (kernel,) = yaml.safe_load((tmp_path / "config/studies/scale.yaml").read_text())["kernels"]
    assert kernel["options"] == ["-DFACTOR=3", "-Iinclude", "-std=c++20"]
    assert kernel["launches"][0]["grid"] == ["n / block"]
    (tmp_path / "build/compile_commands.json").write_text("[{]")
    with pytest.raises(UserError, match=r"build/compile_commands\.json: no list of compile commands in JSON"):
        checked(file, "scale")


def test_a_started_study_says_which_shapes_no_run_has_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pick.cu").write_text(
        "__global__ void pick(float *y, const float *far, const int *at, int n) {\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = far[at[i] * 7 + 11];\n}\n"
        "void host(float *y, float *far, int *at, int n) { pick<<<(n + 63) / 64, 64>>>(y, far, at, n); }\n"
    )
    start_study(["pick", "pick.cu"])
    told = "Shapes are what it accesses on the emulator. Those of far, and all values, are guesses."
    assert told in (tmp_path / "kernels/pick/problem.py").read_text()


def test_the_last_warp_needs_an_order_and_volatile_is_none() -> None:
    """What docs/last-warp.md says of its example."""
    file = ROOT / "examples/last_warp.cu"
    every = all_checked(file)
    for kernel, count in (("plain", 1), ("with_volatile", 1), ("with_syncwarp", 0)):
        found = every[kernel].findings
        assert len(found) == count and all("race at shared[1]" in str(one) for one in found), kernel


def test_a_missing_barrier_is_one_mistake_with_all_pairs_of_lines(tmp_path: Path) -> None:
    (file := tmp_path / "sums.cu").write_text(
        "__global__ void sums(float *y, const float *x, int n)\n{\n    __shared__ float part[128];\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    part[threadIdx.x] = i < n ? x[i] : 0;\n"
        "    float s = part[(threadIdx.x + 1) % 128];\n    s += part[(threadIdx.x + 2) % 128];\n"
        "    __syncthreads();\n    part[threadIdx.x] = s;\n    s += part[(threadIdx.x + 32) % 128];\n"
        "    if (i < n) y[i] = s;\n}\n"
        "void run(float *y, float *x, int n) { sums<<<(n + 127) / 128, 128>>>(y, x, n); }\n"
    )
    result = checked(file, "sums")
    assert [[place for place, _ in one.lines] for one in result.findings] == [
        ["sums.cu:5", "sums.cu:6"],
        ["sums.cu:9", "sums.cu:10"],
    ], result
    assert "and 1 more pair of lines: sums.cu:5 with sums.cu:7\n" in repr(result)
    assert "2 mistakes found" in result.verdict


def test_a_guessed_value_of_a_template_is_listed(tmp_path: Path) -> None:
    (file := tmp_path / "scale.cu").write_text(
        "template <int R> __global__ void scale(float *y, int n)\n{\n"
        "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) y[i] = R;\n}\n"
    )
    assert checked(file, "scale").guessed["R"] == "32 (made up: the file has none that can be read)"
    assert "R" not in checked(file, "scale<4>").guessed
