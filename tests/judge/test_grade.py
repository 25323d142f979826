"""The target grade: every cheat of the catalogue is found, and no honest kernel is accused."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cheats import CHEATS, FOR_NVCC, HONEST, ON_A_GPU, STUDY, rows_of_exploits, write_study
from checkout import ROOT
from workflow_runs import snakemake

from cuda_emulator.compiling import _CAST
from kernelsweep.base import sandbox
from kernelsweep.compile.candidate_code import check_source
from kernelsweep.compile.device_code import kernel_heads
from kernelsweep.compile.toolkit import find_tool
from kernelsweep.device.emulator import EmulatedUnit
from kernelsweep.errors import ContextLost, UserError
from kernelsweep.judge.data.proofs import KernelProof, message_at
from kernelsweep.judge.grade import Verdict, faults_of, grade_answer, judged, report
from kernelsweep.project import grading
from kernelsweep.project.project import load_study
from kernelsweep.results import CHECKS, read_rows
from kernelsweep.study.point import Point
from kernelsweep.study.problem.drawn import DRAWN, EXTREMES, drawn_as
from kernelsweep.sweep.candidate_job import others_go_on, went_on_without
from kernelsweep.sweep.tries import next_try


def grade(folder: Path, platform: str, **config: str) -> tuple[int, dict[str, dict[str, Any]], str]:
    """Run the target; its exit status, the verdicts by candidate, and the last words."""
    given = [f"{name}={value}" for name, value in {"study": "matvec", "platform": platform, **config}.items()]
    cores = ["--cores", str(os.cpu_count())] if platform == "gpu" else []
    run = snakemake(folder, "-s", str(ROOT / "Snakefile"), *cores, "grade", "--config", *given)
    files = [*folder.glob("results/*/grade/verdict.json")]
    candidates = json.loads(files[0].read_text())["candidates"] if files else []
    return run.returncode, {one["candidate"]: one for one in candidates}, run.stdout


# A candidate's settings that would loosen the check or end the run, with what is said of them.
LOOSER = {
    "options: [-ccbin=./evil]": "name no file",
    "roundings: 1000000": "may say function",
    "function: 'matvec<0>); int x(system(\"true\"'": "function",
    f"options: {'[' * 1500}{']' * 1500}": "it is nested more than 100 deep.",
    "macros: [&a x, *a]": "an &",
    "launches: 5": "TypeError",
    # Pins: "nothing that is compiled declares other: an #if leaves it out", of a file without one.
    "launches: [{kernel: 'other<4>', grid: 1, block: 32, arguments: [y]}]": "thread.cu has matvec, not other. Call it",
    "launches: [{grid: 1, block: 1000000000, arguments: [y, A, x, rows, columns]}]": "",
}


# Candidates whose names or texts would stop the others: by a file that Snakemake does not find and a name that it
# refuses, and by compilers' long messages.
ODD = {
    f"less<more>{'n' * 60}": HONEST["thread"].source,
    "long_error": f"#error {'x' * 200_000}\n{HONEST['thread'].source}",
    "many_errors": "x.cu\n" * 100_000,
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study with the catalogue and with candidates that bring settings and links, judged on the emulator."""
    folder = tmp_path_factory.mktemp("grade")
    write_study(folder)
    thread = HONEST["thread"].source
    for number, settings in enumerate(LOOSER):
        (folder / "candidates" / str(number)).mkdir()
        (folder / f"candidates/{number}/thread.cu").write_text(thread)
        (folder / f"candidates/{number}/thread.yaml").write_text(settings)
    for name, text in ODD.items():
        (folder / f"candidates/{name}.cu").write_text(text)
    for name, kernel in FOR_NVCC.items():
        (folder / f"candidates/{name}.cu").write_text(kernel.source)
    (folder / "candidates/passwd.cuh").symlink_to("/etc/passwd")
    (folder / "candidates/linked.cu").write_text(f'#include "passwd.cuh"\n{thread}')
    (folder / "candidates/fewer.cu").write_text(thread.replace(", int columns", "").replace("columns", "5"))
    status, _, words = grade(folder, "emulator", candidate="candidates")
    counts = re.search(
        r"(\d+) right, (\d+) not checked, (\d+) wrong, (\d+) do not compile, 17 refused", " ".join(words.split())
    )
    right, unchecked, wrong, uncompiled = map(int, counts.groups() if counts else (0,) * 4)
    assert status == 1 and uncompiled, words
    assert (right, unchecked, wrong + uncompiled) == ((10, 8, 38) if find_tool("nvcc") else (13, 4, 39))
    return folder


@pytest.fixture(scope="module")
def verdicts(graded: Path) -> dict[str, dict[str, Any]]:
    """The verdicts on all candidates, before single ones are judged again."""
    lines = (graded / "results/emulator/grade/verdicts.jsonl").read_text().splitlines()
    return {one["candidate"]: one for one in map(json.loads, lines)}


pytestmark = pytest.mark.xdist_group("grade")


@pytest.mark.parametrize("name", [*CHEATS, *HONEST])
def test_each_cheat_is_found_and_no_honest_kernel_is_accused(verdicts: dict[str, dict[str, Any]], name: str) -> None:
    kernel = {**CHEATS, **HONEST}[name]
    found = verdicts[name]
    assert found["verdict"] == kernel.verdict and (not kernel.check or kernel.check in found["findings"]), found
    assert found["proven"] or kernel not in HONEST.values()
    assert found["right"] is {"right": True, "unproven": None}.get(kernel.verdict, False)


def test_the_table_of_other_graders_exploits_has_these_verdicts() -> None:
    table = (ROOT / "docs/measured/cheats.md").read_text(encoding="utf-8")
    assert [line for line in table.splitlines() if line.startswith(("| P ", "| S "))] == rows_of_exploits()


REFUSED = [
    *("#inc\\ \nlude_next <a>", '#line 1 "/usr/include/a.h"', "%:define A", "#import <a>", "#include A"),
    *("#if defined /*\n*/ threadIdx", "__attribute__((__no_sanitize_thread__))", "__attribute__((A))"),
    *("#define A __attribute__", '[[gnu::section("a")]]', "[[gnu::constructor]] void f();"),
    *("#pragma GCC optimize 3", '#pragma push_macro("a")', '_Pragma("GCC poison a")'),
    *("decltype((threadIdx)) a;", "#if __SANITIZE_THREAD__", "clo\\u0063k64()", 'R"a(\\ \n)a"', "__COUNTER__"),
    *("EMULATOR_ENTRY", 'a = fooR"(";\n#ifdef threadIdx\n#endif\nb = ")";'),
    *("#include <a/*b>\n__COUNTER__ //*/", "#undef __builtin_memcpy", "' __COUNTER__"),
]
ACCEPTED = [
    *("__attribute__((aligned(sizeof(float4)), noinline)) int a;", "[[nodiscard, maybe_unused]] int f();"),
    *("a[b[threadIdx.x]]", "#pragma unroll 4", "#pragma once", '_Pragma("unroll")', "#pragma omp parallel for"),
    *("[[likely]]", "__align__(16)", "#ifdef __CUDA_ARCH__", "#line 5", "#define A(a, b) a#\\\t\n#b"),
    *("int main() { return int(clock()) + std::chrono::system_clock::now(); }", "alignas(16) float a;"),
    *("int section = 1;", "int clock = 0; f(clock);", "a[[] { return 0; }()]"),
    *('printf("clock64() ## asm %%clock");', "// emulator, __COUNTER__", 'R"(asm ## clock64)"'),
    *("int a = 1'000, b = 'a';", "#  pragma   unroll  4", '_Pragma( "unroll" )'),
    *("#include  <cub/cub.cuh> // x", "#pragma\nint a;", 'u8R"(__COUNTER__)"'),
    *('#if 0\nit\'s no code: asm("clock64"); clock64();\n#endif\n#if 0\n#else\n#endif',),
]
FINDINGS = {
    "clo\\  \nck64()": "clock",
    "long t = clock();": "clock",
    "long t = (clock)();": "clock",
    "#define C clock": "clock",
    "#if 0\n#else\nclock64();\n#endif": "clock",
    "__rdtsc()": "clock",
    "a = 1'0; __nanosleep(2'0);": "clock",
    'asm("mov.u32 %0, %clock;" : "=r"(a));': "clock",
    'a\\ \nsm volatile("");': "",
    'as\\\t\nm("");': "",
}


@pytest.mark.parametrize("text", REFUSED)
def test_words_that_change_the_checked_code_are_refused(text: str) -> None:
    with pytest.raises(UserError, match=r"x\.cu has"):
        check_source(text, "x.cu")


# Texts that a search might read again from each of its places.
SLOW = [
    *("__attribute__((" + "aligned____" * 40, "[[" + "gnu::unused__" * 40, "#define " * 20_000, "#if " * 40_000),
    *("clock" + " " * 150_000 + ";", '"' + '\\"' * 60_000, "'" + "\\'" * 60_000, "#/*" * 40_000),
    *("\n#define A /*" * 10_000, "{}" * 60_000, "(" + "a " * 60_000, "[[" + "a," * 60_000),
    *("decltype" + "( " * 60_000, "1'" * 60_000, 'R"(' * 40_000),
]


@pytest.mark.parametrize("text", SLOW, ids=lambda text: text[:12].strip())
def test_no_text_takes_long_to_read(text: str, tmp_path: Path) -> None:
    start = time.process_time()
    for read in (check_source, lambda text, _: kernel_heads(text), lambda text, _: _CAST.search(text)):
        with suppress(UserError):
            read(text, "x.cu")
    assert time.process_time() - start < 6


def test_what_reads_a_candidate_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "_READING_SECONDS", 0.2)
    with pytest.raises(UserError, match=r"x\.cu took more than 0\.2 s to read"), grading._in_time(Path("x.cu")):
        re.match(r"(a|a)*b", "a" * 40)


@pytest.mark.parametrize("text", ACCEPTED)
def test_words_of_honest_kernels_are_accepted(text: str) -> None:
    assert not check_source(text, "x.cu")


@pytest.mark.parametrize("text", FINDINGS)
def test_clocks_and_assembly_are_found_as_a_compiler_reads_them(text: str) -> None:
    found = check_source(f"__global__ void f()\n{{\n{text}\n}}\n", "x.cu")
    assert {"assembly", FINDINGS[text]} - {""} >= found.keys() >= {FINDINGS[text] or "assembly"}


@pytest.mark.skipif(not find_tool("nvcc"), reason="nvcc decides")
@pytest.mark.parametrize("name", FOR_NVCC)
def test_what_gxx_and_nvcc_read_in_different_ways_is_not_checked(
    verdicts: dict[str, dict[str, Any]], name: str
) -> None:
    found = verdicts[name]
    assert found["verdict"] == "unproven" and re.search(FOR_NVCC[name].check, found["not_proven"]), found


def test_no_code_of_the_host_has_run(graded: Path) -> None:
    assert not (graded / "MARK").exists()


def test_the_page_names_all_and_the_exit_status_says_right_wrong_or_not_checked(graded: Path) -> None:
    page = (graded / "results/emulator/grade/grade.html").read_text()
    assert all(name in page for name in CHEATS) and "s kernel matvec. Made 20" in page
    assert re.search(r"<pre><code>\w+\.cu:\d+  \w.*[;{]\n", page) and "as_given" not in page, "a finding has its lines"
    row = re.search(r"✗ does not compile</th><td><strong>host_call<.*", page)
    assert row and "a call of system, " in row[0] and "not run<" in row[0]
    right = report([Verdict("thread", "thread.cu")], "matvec", "matvec", 0.01)[0]
    assert right["status"] == 0 and not grade_answer(right, "grade.html").errors
    status, verdicts, words = grade(graded, "emulator", candidate="candidates/kept_in_cache.cu")
    assert (
        status == 2
        and [*verdicts] == ["kept_in_cache"]
        and "kept_in_cache: not checked; kept_in_cache.cu has assembly" in words
    )


def test_points_are_drawn_that_only_the_owner_reads(graded: Path) -> None:
    rows = (graded / "results/emulator/points/matvec_graded/thread.csv").read_text().splitlines()
    assert all(
        any(f"drawn={kind}" in row for row in rows) for kind in ("zeros", "ones", "tiny", "small", "large", "nan")
    )
    others = [row for row in rows[1:] if "drawn=as_given" in row]
    assert len(others) > 2  # of the study
    secret = graded / "results/grade.secret"
    assert secret.stat().st_mode & 0o077 == 0 and secret.read_text() not in STUDY
    assert all(
        folder.stat().st_mode & 0o077 == 0
        for folder in graded.glob("results/emulator/*/matvec_graded")
        if folder.parent.name in ("points", "samples", "journal")
    )


@pytest.mark.parametrize("kind", EXTREMES)
def test_what_is_drawn_is_in_the_range_that_is_asked_for(kind: str) -> None:
    low, high = [0, 1], [2, 3]
    found = drawn_as(np.random.default_rng(3), {DRAWN: kind}).uniform(low, high)
    assert (low <= found).all() and (found < high).all()


def test_a_candidates_own_settings_and_links_loosen_nothing(verdicts: dict[str, dict[str, Any]]) -> None:
    assert verdicts["linked"]["verdict"] == "refused"
    assert "4 parameters, and the launch gives 5" in verdicts["fewer"]["findings"]["source"][0]
    for number, words in enumerate(filter(None, LOOSER.values())):
        assert verdicts[f"{number}_thread"]["verdict"] == "refused"
        assert words in verdicts[f"{number}_thread"]["findings"]["source"][0]


def test_what_kernelsweep_fails_at_is_told_of_that_candidate_alone(
    verdicts: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    found = verdicts[f"{len(LOOSER) - 1}_thread"]
    assert found["verdict"] == "unproven" and found["right"] is None and found["not_proven"].startswith("could not be")
    output = {"points": tmp_path / "points.csv", "proofs": tmp_path / "proofs.csv"}
    plan = SimpleNamespace(is_candidate=True, journal=tmp_path / "journal.jsonl", number=0)
    job = SimpleNamespace(
        params=SimpleNamespace(plan=plan), output=output, wildcards=SimpleNamespace(study="matvec", kernel="x")
    )
    with others_go_on(job):
        raise KeyError("of ours")
    judged_as = judged(Verdict("x", "x.cu"), read_rows(output["points"]), [], None, None, {}, [])
    assert judged_as.not_proven == "could not be judged: KeyError: 'of ours'" and next_try(plan.journal) == 1
    assert went_on_without(job, -signal.SIGKILL) and not went_on_without(job, 1)
    assert "signal 9, as where memory runs out, ended" in read_rows(output["points"])[0]["message"]
    with pytest.raises(ContextLost), others_go_on(job):
        raise ContextLost("the GPU")


def test_a_check_with_a_note_is_not_called_passed() -> None:
    row = {"status": "ok", "message": "", "reason": "", "flags": "", "parameters": "", "n": "5"}
    noted = {"check": "barriers", "finding": "partial_barrier", "message": "at n=5: thread 5 of block 0 has ended"}
    proof = KernelProof(Counter((check, "emulator") for check in CHECKS), noted=[noted])
    candidate = judged(Verdict("x", "x.cu"), [row], [], proof, None, {}, [])
    assert (candidate.verdict, candidate.checks["barriers"], candidate.checks["races"]) == ("right", "note", "passed")
    assert "- note, barriers: at n=5: thread 5 of block 0 has ended" in report([candidate], "own", "other", 0.02)[2]


def test_a_kernel_to_compare_with_that_is_wrong_is_told() -> None:
    # Pins: "right", without a word on the points at which nobody was judged.
    rows = [{"status": status, "n": n, "parameters": f"n={n}"} for status, n in (("ok", "4"), ("wrong_result", "5"))]
    race = {"check": "races", "finding": "race", "message": "thread 1 reads", "point": "n=5"}
    faults = faults_of("naive", rows, KernelProof(Counter(), mistakes=[race]))
    right, *told = report([Verdict("x", "x.cu")], "own", "naive", 0.02, faults)[0]["verdict"]
    assert right == "x: right." and told == [
        "naive itself fails at 1 of 2 points, such as n 5. Random ones among these are held against no candidate.",
        f"A check found in naive itself: {message_at(race)}. There, it accuses no candidate.",
    ]
    assert not faults_of("naive", rows[:1], None)


def test_words_that_macros_put_together_are_wrong_on_a_gpu_too() -> None:
    row = {"status": "ok", "message": "", "reason": "", "flags": "", "parameters": ""}
    proof = KernelProof(missing=[{"reason": "hidden_words", "message": "A macro puts words together: a clock"}])
    judged_as = judged(Verdict("x", "x.cu"), [row], [], proof, None, {}, [])
    assert judged_as.verdict == "wrong" and judged_as.findings == {"source": [proof.missing[0]["message"]]}


def test_without_a_sandbox_grade_refuses_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_works", lambda way: False)
    with pytest.raises(UserError, match="sandbox=none"):
        sandbox.choose_sandbox(may_lack=False)
    assert sandbox.choose_sandbox(may_lack=True) == sandbox.NO_SANDBOX


def test_a_candidates_code_is_loaded_in_the_sandbox_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(sandbox.VARIABLE, sandbox.BUBBLEWRAP)
    with pytest.raises(UserError, match="in the sandbox alone"):
        EmulatedUnit(tmp_path / "candidate.so")


@pytest.mark.gpu
def test_on_a_gpu_each_cheat_is_found_and_honest_kernels_have_a_ratio(tmp_path: Path) -> None:
    write_study(tmp_path, has_gpu=True)
    lacks = "none" if sandbox.choose_sandbox(may_lack=True) == sandbox.NO_SANDBOX else "required"
    status, verdicts, words = grade(tmp_path, "gpu", candidate="candidates", sandbox=lacks)
    assert status == 1, words
    for name, kernel in {**CHEATS, **ON_A_GPU}.items():
        assert verdicts[name]["verdict"] != "right", verdicts[name]
        assert kernel.verdict != "wrong" or verdicts[name]["verdict"] == "wrong", verdicts[name]
    for name in HONEST:
        found = verdicts[name]
        assert found["verdict"] == "right" and all(
            0 < one["low"] <= one["ratio"] <= one["high"] for one in found["sizes"]
        ), found
    assert verdicts["thread"]["sizes"] and all(0.9 < one["ratio"] < 1.1 for one in verdicts["thread"]["sizes"])


@pytest.mark.parametrize("name", ["vectoradd", "grayscale", "prefixsum", "softmax", "matmul_relu"])
def test_tasks_of_others_are_problems(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(ROOT / "examples/tasks", tmp_path / "tasks")
    monkeypatch.chdir(folder)
    study = load_study(name, folder)
    axes = {**study.settings.axes, **study.settings.axes_on("emulator")}
    point = Point({"cache": "cold", **{axis: values[0] for axis, values in axes.items()}})
    instance = study.problem.instance(name, point, 1)
    instance.check()
    right = instance.expected["output"].elements
    assert not instance.judge({"output": right}, 0).mistake
    assert "output" in str(instance.judge({"output": right + 1}, 0).mistake)
    assert not study.problem.doubts(name, point, 1)
