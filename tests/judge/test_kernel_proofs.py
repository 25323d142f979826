"""What was checked of kernels, in words: nothing that no tool has checked, and each tool's answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_sweep import row_counts

from kernelsweep.judge.data.proofs import Proofs, proof_errors, proofs_in_words, read_proofs, unproven
from kernelsweep.judge.data.row_counts import RowCounts
from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.publish.summary import failed_text
from kernelsweep.results import CHECKS, NOT_CHECKED, OTHER_CODE, PROOF_COLUMNS, Row, write_rows

RACE = "race at partials[1] (device buffer partials of 4 elements)"


def row(kernel: str, check: str, tool: str = "emulator", finding: str = "", **others: str) -> Row:
    return {
        "study": "unrolling", "kernel": kernel, "check": check, "tool": tool, "finding": finding,
        "points": "0" if finding == NOT_CHECKED else "3", **others,
    }  # fmt: skip


def proofs_of(folder: Path, *rows: Row) -> Proofs:
    write_rows(folder / "proofs.csv", PROOF_COLUMNS, rows)
    return read_proofs([folder / "proofs.csv"])


def test_undefined_behaviour_has_the_answers_of_both_tools_on_the_page(tmp_path: Path) -> None:
    # Racecheck looks at shared memory alone, and the race is in a device buffer.
    why = {"expected": "its lanes have to run in lockstep"}
    proofs = proofs_of(
        tmp_path,
        row("volatile", "races", finding="race", message=RACE, **why),
        row("volatile", "races", "racecheck", **why),
        row("volatile", "bounds", "memcheck", **why),
    )
    assert proofs_in_words(proofs) == "1 of 1 kernels of undefined behaviour" and not proof_errors(proofs)
    page = failed_text(RowCounts(), proofs, [])
    # What is expected unfolds, below the verdict.
    verdict, _, folded = page.partition("<details>")
    assert "No point was run." in verdict and RACE not in verdict
    assert "Findings that the study explains" in folded and RACE in folded
    assert "unrolling/volatile, races (emulator)" in page and "in lockstep" in page


def test_a_kernel_is_checked_when_every_check_of_memory_was_made(tmp_path: Path) -> None:
    every = [row("whole", check) for check in CHECKS]
    by_tools = [row("on_gpu", "", finding=NOT_CHECKED, message="only for a GPU: it multiplies by tensor cores")]
    by_tools += [row("on_gpu", check, "a tool") for check in CHECKS if check not in ("result", "races")]
    without = proofs_of(tmp_path, *every, *by_tools, row("on_gpu", "races", "racecheck", NOT_CHECKED, message="hung"))
    assert proofs_in_words(without) == "1 of 2 kernels, nothing found at 3 points; 1 not checked: unrolling/on_gpu"
    assert "unrolling/on_gpu, races (racecheck): hung" in unproven(without)["Not checked"]
    proven = proofs_of(tmp_path, *every, *by_tools, row("on_gpu", "races", "racecheck"))
    assert proofs_in_words(proven) == "2 of 2 kernels, 1 of them by compute-sanitizer, nothing found at 6 points"
    assert not any(unproven(proven).values())
    where = "kernels/unrolling/guarded.cu:7-9: the emulator can't run the GPU's code (there is PTX)"
    of_part = [row("guarded", "", finding=OTHER_CODE, message=where), *(row("guarded", check) for check in CHECKS)]
    in_part = proofs_of(tmp_path, *every, *of_part, *(row("guarded", "races", tool) for tool in TOOLS))
    assert proofs_in_words(in_part) == "1 of 2 kernels, nothing found at 3 points; 1 checked in part: unrolling/guarded"
    assert in_part["unrolling", "guarded"].in_words == "checked in part: other code than a GPU's"
    assert f"unrolling/guarded: {where}" in [*unproven(in_part).values()][2]
    unknown = proofs_of(tmp_path, by_tools[0])
    assert "unrolling/on_gpu: only for a GPU: it multiplies by tensor cores" in unproven(unknown)["Not checked"]


def test_the_page_has_the_lines_of_a_race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.cu").write_text("one;\n  tile[t] = x[i];\n  best = tile[t + 1];\n", encoding="utf-8")
    message = "thread 1 of block 0 writes it at a.cu:2, thread 0 of block 0 reads it at a.cu:3"
    proofs = proofs_of(tmp_path, row("a", "races", finding="race", message=message))
    page = failed_text(RowCounts(), proofs, [])
    assert "```\na.cu:2  tile[t] = x[i];\na.cu:3  best = tile[t + 1];\n```" in page


def test_an_access_that_makes_a_result_wrong_is_told_once(tmp_path: Path) -> None:
    message = "thread 4 of block 0 reads x[5] at a.cu:7, out of bounds of the device buffer x of 5 elements"
    proofs = proofs_of(
        tmp_path,
        row("a", "bounds", finding="out_of_bounds", message=f"at n 5: {message}"),
        row("b", "result", finding="wrong_result", message="at n 5: 3 of 5 elements are wrong"),
    )
    assert proof_errors(proofs) == [
        f"The check of unrolling/a failed: bounds (emulator), at n 5: {message}.",
        "The check of unrolling/b failed: result (emulator), at n 5: 3 of 5 elements are wrong.",
    ]
    wrong = {"study": "unrolling", "kernel": "a", "status": "wrong_result", "flags": ""}
    told = row_counts([{**wrong, "reason": "out_of_bounds", "message": f"the values are right, but {message}"}])
    assert (
        "unrolling/a" not in " ".join(proof_errors(proofs, told))
        and not unproven(proofs, told)["Mistakes in kernels"][1:]
    )
    # Another access, as of the emulator beside a GPU's wrong values, is told.
    assert proof_errors(proofs, row_counts([{**wrong, "message": "at [0] expected 1"}])) == proof_errors(proofs)
