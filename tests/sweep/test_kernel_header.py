"""A kernel's header is read wherever it stands in the leading comments, or refused; it is never ignored."""

from __future__ import annotations

from pathlib import Path

import pytest
from checkout import ROOT

from kernelsweep.errors import UserError
from kernelsweep.problems.reduction import REDUCTION
from kernelsweep.sweep.kernels.header import read_kernel
from kernelsweep.sweep.kernels.story import story

CODE = """\
#include "operations.cuh"

template <typename Element, typename Operation>
__global__ void toy(const Element *data, Element *partials, size_t array_size) {}
"""
HEADER = "// kernelsweep:\n//   plan: until_one_value\n//   unroll: [1]\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "toy.cu"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        HEADER + CODE,
        "// A toy.\n//\n" + HEADER + "\n" + CODE,
        # Each of these was ignored once: the kernel then ran by the default plan, and was called right.
        "// Licence: MIT\n\n" + HEADER + CODE,
        "/* Licence: MIT\n * of somebody\n */\n" + HEADER + CODE,
        "\n\n" + HEADER + CODE,
        "#pragma once\n" + HEADER + CODE,
        "#define LONG \\\n  1\n\n// A toy.\n\n" + HEADER + CODE,
        "\ufeff" + HEADER + CODE,
        "\ufeff\n#pragma once\n\n" + HEADER + CODE,
        (HEADER + CODE).replace("\n", "\r\n"),
        HEADER.replace("//   unroll", "\n//   unroll") + CODE,
        HEADER.replace("//   unroll", "//\n//   unroll") + CODE,
        HEADER.replace("kernelsweep:", "kernelsweep :") + CODE,
        HEADER.replace("kernelsweep:", "Kernelsweep:  ") + CODE,
        HEADER.replace("kernelsweep:", "KERNELSWEEP:") + CODE,
        HEADER.replace("// ", "/// ") + CODE,
        HEADER.replace("// ", "//") + CODE,
        "// kernelsweep: {plan: until_one_value, unroll: [1]}\n" + CODE,
        "// kernelsweep: {plan: until_one_value,\n//   unroll: [1]}\n" + CODE,
        "/* kernelsweep:\n     plan: until_one_value\n     unroll: [1] */\n" + CODE,
        "/*\n  A toy.\n\n  kernelsweep:\n    plan: until_one_value\n\n    unroll: [1]\n*/\n" + CODE,
        "/**\n * A toy.\n *\n * kernelsweep:\n *   plan: until_one_value\n *   unroll: [1]\n */\n" + CODE,
        "/* kernelsweep: {plan: until_one_value} */ " + CODE.partition("\n\n")[2],
        HEADER + "\n// The next step is the vectorised one.\n" + CODE,
        HEADER + '#include "loads.cuh"\n//   A picture\n' + CODE,
    ],
)
def test_a_header_is_read_wherever_it_stands_in_the_leading_comments(tmp_path: Path, text: str) -> None:
    kernel = read_kernel(write(tmp_path, text), ROOT, REDUCTION)
    assert (kernel.plan, kernel.unroll, kernel.has_header) == ("until_one_value", (1,), True)


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        (HEADER + "\n" + HEADER + CODE, 5, ["a second header", "line 1"]),
        (CODE + HEADER, 5, ["below the code", "Move it to the file's beginning"]),
        (CODE + "/* kernelsweep: {plan: halving} */\n", 5, ["below the code"]),
        (HEADER.replace("sweep:", "sweep") + CODE, 1, ["'kernelsweep'", "Write 'kernelsweep:'"]),
        (HEADER.replace("sweep:", "sweeps:") + CODE, 1, ["'kernelsweeps:'", "Write 'kernelsweep:'"]),
        (HEADER.replace("kernelsweep:", "kernel_sweep:") + CODE, 1, ["Write 'kernelsweep:'"]),
        (HEADER.replace("kernelsweep:", "kernelswep:") + CODE, 1, ["Write 'kernelsweep:'"]),
        ("// kernelsweep {plan: halving}\n" + CODE, 1, ["Write 'kernelsweep:'"]),
        ("// kernelsweep = {plan: halving}\n" + CODE, 1, ["Write 'kernelsweep:'"]),
        (HEADER.replace("//   ", "// ") + CODE, 2, ["'plan: until_one_value' is not indented under 'kernelsweep:'"]),
        (HEADER.replace("//   unroll", "// unroll") + CODE, 3, ["'unroll: [1]' is not indented"]),
        (HEADER.replace("//   unroll", "//\n// unroll") + CODE, 4, ["'unroll: [1]' is not indented"]),
        (HEADER.replace("//   unroll", "\n#pragma once\n//   unroll") + CODE, 5, ["'unroll: [1]' is not"]),
        ("// kernelsweep: halves the array\n" + CODE, 1, ["no keys with values: 'halves the array'"]),
        ("// kernelsweep: [1, 2]\n" + CODE, 1, ["no keys with values: [1, 2]"]),
        (HEADER.replace("plan:", "plan") + CODE, 3, ["no YAML", "such as '//   plan: block_partials'"]),
        (HEADER.replace("[1]", "[1") + CODE, 3, ["no YAML"]),
        (HEADER.replace("//   unroll", "//\tunroll") + CODE, 3, ["no YAML"]),
    ],
)
def test_a_header_that_can_not_be_read_is_refused(tmp_path: Path, text: str, line: int, parts: list[str]) -> None:
    with pytest.raises(UserError) as error:
        read_kernel(write(tmp_path, text), ROOT, REDUCTION)
    message = str(error.value)
    assert f"toy.cu, line {line}: " in message and "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    "comment",
    [
        "",
        "// Measured with kernelsweep, see its documentation.\n",
        "// unroll: how many elements a thread takes\n//   plan: none yet\n",
        "// kernels: this one, and another\n",
        "/* no end of words */ // and more\n",
    ],
)
def test_a_kernel_without_a_header_is_known_to_have_none(tmp_path: Path, comment: str) -> None:
    kernel = read_kernel(write(tmp_path, comment + CODE), ROOT, REDUCTION)
    assert kernel.plan == "block_partials"
    assert not kernel.has_header


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("// An idea.\n//\n// Its *reason*.\n//\n// kernelsweep:\n//   macros: [n]\n", "An idea.\n\nIts *reason*."),
        ("#include <cuda.h>\n\n/* An idea,\n * in two lines. */\n#define N 1\n// N.\n", "An idea,\nin two lines."),
        ("// An idea.\n\n// The code below.\nint n;", "An idea."),
        ("// SPDX-License-Identifier: MIT\n// All rights reserved.\n", ""),
        ("int n;  // No idea.\n", ""),
    ],
)
def test_a_files_first_comment_tells_its_story(text: str, told: str) -> None:
    assert story(text) == told
