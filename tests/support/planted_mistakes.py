"""A repository of kernels, each with a mistake planted in it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml
from checkout import ROOT

_HERE = ROOT / "tests/planted"
_START = r"(?=    __shared__)"
_FILL = r"shared\[thread\] = (place < array_size) \? (.*) : .*;"
_FILL_ARRAYS = r"(?=shared\[thread\] = )"
# A kernel from the name of its first input to the end, where it writes a block's sum.
_TO_THE_END = r"(?s)const (?:Element|float) \*(\w+)(.*)partials\[blockIdx.x\] = shared\[0\];"

# By mistake: the check that finds it, the finding, and the edit that plants it, as a pattern and its replacement.
PLANTED = {
    "missing_syncthreads": ("races", "race", r"    __syncthreads\(\);\n(?=\s*for)", ""),
    "missing_syncwarp": ("races", "race", r" +__syncwarp\(\);\n", ""),
    "conditional_barrier": ("barriers", "barrier", r"\n    (__syncthreads\(\);)", r"\n    if (thread < 40)\n    \1"),
    "uninitialised_read": ("uninitialised", "uninitialised", _FILL, r"if (\1)\n        shared[thread] = \2;"),
    "last_block_left_out": (
        "result", "wrong_result", _START, "    if (blockIdx.x == gridDim.x - 1)\n        return;\n",
    ),
    "some_not_written": ("result", "wrong_result", r"if \(thread == 0\)", "if (thread == 0 && blockIdx.x % 4 != 3)"),
    "index_added": ("result", "wrong_result", r"(blockIdx\.x\)?) \* (side|blockDim\.x)", r"\1 + \2"),
    "input_changed": (
        "result", "wrong_result", rf"({_FILL})".replace("(.*)", r"(\w+)\[place\].*"),
        r"\1\n    if (\2)\n        (float &)\3[place] = 0;",
    ),
    "past_end_read": ("bounds", "out_of_bounds", r"place < array_size \?", "place <= array_size ?"),
    "past_end_written": (
        "bounds", "out_of_bounds", r"(partials\[blockIdx.x\]) =", r"\1 = partials[blockIdx.x + 1] =",
    ),
    "read_far_away": ("bounds", "launch_failed", r"\[place\]", "[place + 20000000]"),
    "unused_read_past_end": (
        "bounds", "out_of_bounds", _FILL_ARRAYS,
        "if (place < array_size) {\n        const float next = first[place + 1];\n        (void)next;\n    }\n    ",
    ),
    "local_array_past_end": (
        "bounds", "out_of_bounds", _START,
        "    float kept[4] = {};\n    kept[threadIdx.x % 5] = 1;\n    if (kept[0] > 1)\n        return;\n",
    ),
    "misaligned": (
        "bounds", "misaligned", _FILL_ARRAYS,
        "const float2 pair = *reinterpret_cast<const float2 *>(first + 1);\n    (void)pair;\n    ",
    ),
    "barriers_on_one_line": (
        "barriers", "barrier", r"    __syncthreads\(\);\n(?=    for)",
        "    if (thread < 40) __syncthreads(); else __syncthreads();\n",
    ),
    "lane_not_named": (
        "uninitialised", "inactive_lane", r"    (?=if \(thread == 0\))",
        "    const float other = thread < 16 ? __shfl_sync(0xffffu, 0.0f, 16) : 0;\n    if (thread == 0)\n"
        "        shared[0] += other;\n    ",
    ),
    "never_written": (
        "uninitialised", "uninitialised", r"    (?=if \(thread == 0\))",
        "    __shared__ float offset;\n    if (thread == 0)\n        shared[0] += offset;\n    ",
    ),
    "cached_by_address": (
        "result", "wrong_result", _TO_THE_END,
        r"const float *\1\2{ // for blocks that know no result of these elements\n"
        "        static const void *known_input[1024];\n        static float known[1024];\n"
        r"        if (known_input[blockIdx.x] != \1)" "\n            known[blockIdx.x] = shared[0];\n"
        r"        known_input[blockIdx.x] = \1;" "\n        partials[blockIdx.x] = known[blockIdx.x];\n    }",
    ),
    "later_runs_skipped": (
        "result", "wrong_result", r"(?s)(    __shared__.*)if \(thread == 0\)",
        "    static bool is_done[1024];\n    if (is_done[blockIdx.x])\n        return;\n"
        r"\1if (thread == 0)" "\n        is_done[blockIdx.x] = true;\n    if (thread == 0)",
    ),
    "skipped_where_written": (
        "uninitialised", "uninitialised", _START,
        "    if (partials[blockIdx.x] == partials[blockIdx.x]) // It is no NaN.\n        return;\n",
    ),
    "half_precision": ("result", "wrong_result", r"= shared\[0\]", "= __half2float(__float2half(float(shared[0])))"),
    "endless_loop": (
        # Asleep, or the tests that run beside it would wait for a core.
        "result", "timed_out", _START,
        "    volatile int runs = 1;\n    while (runs) {\n        runs = 1;\n        __nanosleep(1000000);\n    }\n",
    ),
    "trap": ("result", "launch_failed", _START, "    if (array_size > 31)\n        __trap();\n"),
}  # fmt: skip

# A reduction may use its input as memory to work in; the others are edits of that kernel's text.
FOR_ARRAYS_ALONE = ("input_changed", "unused_read_past_end", "local_array_past_end", "misaligned",
                    "barriers_on_one_line", "lane_not_named", "never_written")  # fmt: skip
# Mistakes in the use of memory are planted once more, in kernels that compute-sanitizer proves.
SANITIZED = ("missing_syncthreads", "missing_syncwarp", "conditional_barrier", "uninitialised_read", "past_end_read",
             "past_end_written", "read_far_away")  # fmt: skip
BY_STUDY: Mapping[str, tuple[str, ...]] = {
    "sums": tuple(mistake for mistake in PLANTED if mistake not in FOR_ARRAYS_ALONE),
    "arrays": tuple(PLANTED),
    "sanitized": SANITIZED,
}
# Found by the same check, and told in the same words, as others of PLANTED are: tests/planted/cases has each of them.
_LIKE_OTHERS = ("missing_syncwarp", "past_end_written", "unused_read_past_end", "local_array_past_end",
                "barriers_on_one_line", "never_written")  # fmt: skip
# On the emulator, each kind of mistake is planted once; the other study has a right kernel.
ON_EMULATOR: Mapping[str, tuple[str, ...]] = {
    "arrays": tuple(mistake for mistake in PLANTED if mistake not in _LIKE_OTHERS),
    "sanitized": ("missing_syncthreads",),
}
RIGHT = "right"
SIZE = 1000
_SUMS = ["data", "partials", "array_size"]
_OF_BLOCKS = {
    "launches": [{"grid": "array_size / block_size", "block": "block_size", "arguments": _SUMS}],
    "arrays": {"partials": {"size": "array_size / block_size", "dtype": "dtype"}},
    "results": {"partials": "ceil(array_size / block_size)"},
    "updates": ["data"],
    "roundings": "1 + ceil(log2(block_size))",
}
_LAUNCH = {"grid": "n / side", "block": "side", "arguments": ["products", "partials", "first", "second", "n"]}


def write_repository(folder: Path, by_study: Mapping[str, Sequence[str]], timeout_seconds: int) -> None:
    """Write a repository with right kernels and those with these mistakes: of sums, and of several arrays."""
    for study, mistakes in by_study.items():
        right = (_HERE / f"{'arrays' if study == 'arrays' else 'sums'}.cu").read_text()
        (folder / f"kernels/{study}").mkdir(parents=True)
        (folder / f"kernels/{study}/{RIGHT}.cu").write_text(right)
        for mistake in mistakes:
            (folder / f"kernels/{study}/{mistake}.cu").write_text(_with_mistake(right, mistake))
    shutil.copy(_HERE / "arrays_problem.py", folder / "kernels/arrays/problem.py")
    shutil.copy(ROOT / "kernels/reduction_problem.py", folder / "kernels")
    (folder / "config/studies").mkdir(parents=True)
    for study, mistakes in by_study.items():
        names = (RIGHT, *mistakes)
        settings = {"title": study.title(), **(_of_arrays(names) if study == "arrays" else _of_sums(study, names))}
        (folder / f"config/studies/{study}.yaml").write_text(yaml.safe_dump(settings))
    (folder / "config/config.yaml").write_text(yaml.safe_dump({"measuring": {"timeout_seconds": timeout_seconds}}))


def _with_mistake(right: str, mistake: str) -> str:
    """The right kernel's text with a mistake planted in it."""
    _, _, pattern, replacement = PLANTED[mistake]
    wrong, count = re.subn(pattern, replacement, right, count=0 if mistake == "missing_syncwarp" else 1)
    assert count, mistake
    return wrong.replace(f"void {RIGHT}(", f"void {mistake}(")


def _of_sums(study: str, names: Sequence[str]) -> dict[str, object]:
    axes = {"array_size": [SIZE], "block_size": [64], "unroll": [1]}
    only = {"gpu_only": "compute-sanitizer is to prove it"} if study == "sanitized" else {}
    return {
        "problem": "kernels/reduction_problem.py",
        "axes": {**axes, "dtype": ["float32"], "operation": ["sum"], "cache": ["cold"]},
        "cxx": {"operation": {"sum": "Sum"}},
        "kernels": [{"name": name, "function": f"{name}<dtype, operation>", **_OF_BLOCKS, **only} for name in names],
        "steps": [{"kernel": RIGHT}],  # which has a picture a step
    }


def _of_arrays(names: Sequence[str]) -> dict[str, object]:
    return {
        "problem": "kernels/arrays/problem.py",
        "axes": {"n": [SIZE], "side": [64], "cache": ["cold"]},
        "kernels": [{"name": name, "macros": ["side"], "launches": [{"kernel": name, **_LAUNCH}]} for name in names],
    }
