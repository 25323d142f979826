"""A sweep that is killed goes on where it stopped: each point once, and none changed."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import psutil
import pytest
from checkout import ROOT
from planted import built, measured, planted_kernel, point
from workflow_runs import shrink, snakemake

from kernelsweep.base import locks
from kernelsweep.errors import UserError
from kernelsweep.results import read_rows
from kernelsweep.study.kernel_sweep import PlannedPoint, instantiation
from kernelsweep.sweep.journal import journals_of

PATIENCE_SECONDS = 60.0


def keys(journal: Path) -> list[str]:
    """The keys of visits, without that of the sweep."""
    found = [json.loads(line)["key"] for line in journal.read_bytes().splitlines(True) if line.endswith(b"\n")]
    return [key for key in found if key != "sweep"]


def whole_lines(journal: Path) -> bytes:
    content = journal.read_bytes() if journal.exists() else b""
    return content[: content.rfind(b"\n") + 1]


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs: the system's first process may take seconds to clear away what has ended."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


_SCRIPT = re.compile(r"\.measure_kernel\.py$")


def wait_until(true: Callable[[], object], job: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert job.poll() is None, "the job has ended too early"
        assert time.monotonic() < end
        time.sleep(0.01)


def test_only_a_run_that_is_alone_deletes_the_locks_of_a_killed_one(tmp_path: Path) -> None:
    # Pins: a second run that began with the first took no lock of its own, so that a third deleted Snakemake's of it.
    held, lock = locks._LOCKS_OF_THIS_RUN, tmp_path / "locks/0.input.lock"
    lock.parent.mkdir()
    clears = [locks.clear_locks_of_killed_run(tmp_path) for _ in range(2)]
    os.close(held.pop(-2))  # The first ends.
    lock.touch()
    assert [*clears, locks.clear_locks_of_killed_run(tmp_path)] == [False] * 3 and lock.exists()
    for _ in range(2):
        os.close(held.pop())
    assert locks.clear_locks_of_killed_run(tmp_path) and not lock.exists()


def test_two_checkouts_with_one_folder_of_results_run_one_after_the_other(tmp_path: Path) -> None:
    # Pins: the second checkout wrote the emulator's header while the first compiled with it, which ended in a stack.
    results, link = tmp_path / "results", tmp_path / "link"
    results.mkdir()
    link.symlink_to(results)
    locks.hold_results(results)
    with pytest.raises(UserError, match=f"results is in use by another run: process {os.getpid()} on "):
        locks.hold_results(link)
    os.close(locks._LOCKS_OF_THIS_RUN.pop())
    locks.hold_results(link)
    os.close(locks._LOCKS_OF_THIS_RUN.pop())


def test_a_killed_worker_costs_no_point(tmp_path: Path) -> None:
    # Pins: a row launch_failed, which the same command wouldn't run again, for a fault that is not the kernel's.
    points, journal, moments = [point(size) for size in range(1, 13)], tmp_path / "journal.jsonl", random.Random(3)
    kernel = planted_kernel(tmp_path, "if (threadIdx.x == 0) usleep(20000);")
    kernel.path.write_text(kernel.path.read_text().replace("#include", "#include <unistd.h>\n#include", 1))
    task, report = built(kernel, points, tmp_path)
    planned = [PlannedPoint(one, instantiation(kernel, one)) for one in points]
    job = get_context("fork").Process(target=measured, args=(task, planned, report, journal))
    job.start()
    for count in (1, 6):
        while whole_lines(journal).count(b"\n") < count:
            assert job.is_alive()
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.05))
        for worker in psutil.Process(job.pid).children():
            worker.kill()
    job.join(PATIENCE_SECONDS)
    assert job.exitcode == 0
    kept = journal.read_bytes()
    outcomes = measured(task, planned, report, journal)
    assert {outcome.status for outcome in outcomes.values()} == {"ok"} and journal.read_bytes() == kept
    assert len(keys(journal)) == len({*keys(journal)}) == len(points)


def slow_down(project: Path, largest: int) -> tuple[str, Path]:
    """Shrink the project, with a slow kernel whose arrays have 1 to `largest` elements.

    Returns the file with the kernel's points, and its journal.
    """
    axes = {"array_size": [*range(1, largest + 1)], "block_size": [64]}
    shrink(project, platforms={"emulator": {"axes": axes}})
    kernel = project / "kernels/warp_shuffle/global_memory.cu"
    text = kernel.read_text().replace("#include", "#include <unistd.h>\n#include", 1)
    kernel.write_text(re.sub(r"(__global__[^{]*\{)", r"\1 if (threadIdx.x == 0) usleep(20000);", text))
    journal = project / "results/emulator/journal/warp_shuffle/global_memory.jsonl"
    return "results/emulator/points/warp_shuffle/global_memory.csv", journal


def test_a_stopped_or_killed_run_leaves_no_process_and_the_same_command_goes_on(project: Path, tmp_path: Path) -> None:
    # The whole way, as a user sees it: Snakemake deletes what a failed job has made, but not the journal. The killed
    # jobs are chunks', and the others the kernel's. Pins: points measured again because of that; a stack where Ctrl-C
    # comes twice; jobs that SIGTERM waits for; a lock of Snakemake's that outlives a run.
    target, journal = slow_down(project, largest=4)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", target, "--config", "platform=emulator"]
    said = tmp_path / "said"

    def ctrl_c(run: subprocess.Popen[str]) -> None:
        os.killpg(run.pid, signal.SIGINT)  # As a terminal sends it; and `uv run` sends it on.
        time.sleep(0.02)
        run.send_signal(signal.SIGINT)

    def found() -> dict[Path, bytes]:
        return {path: whole_lines(path) for path in journals_of(journal)}

    def count() -> int:
        return b"".join(found().values()).count(b"\n")

    kill = subprocess.Popen.kill
    for stop, status, new_lines in ((ctrl_c, 1, 1), (subprocess.Popen.terminate, 1, 1), (kill, -9, 5)):
        kept, cut = count(), ["points_per_job=12"] if stop is kill else []
        with said.open("w") as output:
            run = subprocess.Popen([*command, *cut], cwd=project, stderr=output, text=True, start_new_session=True)
        wait_until(lambda: count() >= kept + new_lines, run)  # noqa: B023
        family = psutil.Process(run.pid).children(recursive=True)
        alive = [process for process in family if is_alive(process)]
        # A fork has its rule's name, and a Python for each job (docs/snakemake.md) its script's in the command.
        name = "measure_chunk" if cut else "measure_on_emul"
        names = {process: process.name() for process in alive}
        jobs = [
            process
            for process in alive
            if names[process] == name or (names[process].startswith("python") and _SCRIPT.search(process.cmdline()[-1]))
        ]
        assert 1 <= len(jobs) <= 1 + len(cut), "a chunk on each core"
        stop(run)
        for job in jobs if stop is kill else ():
            job.kill()
        assert run.wait(PATIENCE_SECONDS) == status
        # Pins: a worker, or the process that starts the jobs, that outlives them.
        end = time.monotonic() + 3
        while any(map(is_alive, alive)):
            assert time.monotonic() < end
            time.sleep(0.01)
        words = said.read_text(encoding="utf-8")
        assert "killed" not in words, "a lock was left"
        if stop is not kill:
            *lines, last = words.splitlines()
            kept_and = "Every finished point and job is kept in results; the same command goes on from there."
            assert last == f"Stopped. {kept_and}"
            assert not re.search("Traceback|Error|Exception|died", "\n".join(lines))
            # Pins: a log that says that Linux killed the job, as where memory runs out.
            logs = {log: log.read_text(encoding="utf-8") for log in (project / "results").rglob("*.log")}
            assert logs and not [log for log, text in logs.items() if "killed (signal" in text]
        assert not (project / target).exists()
    kept = found()

    # A dry run leaves the locks to the next run.
    assert snakemake(project, target, "--dry-run").returncode == 0
    again = snakemake(project, target)
    assert again.returncode == 0, again.stdout
    assert "The last run here was killed." in again.stdout
    for path, lines in kept.items():
        assert path.read_bytes().startswith(lines)
    rows = read_rows(project / target)
    assert {row["status"] for row in rows} == {"ok"}
    visited = [key for path in journals_of(journal) for key in keys(path)]
    assert len(rows) == len(set(visited)) == len(visited) > 12


def own_study(folder: Path) -> None:
    """A repository of a user's own, with the example of a new study."""
    for name in ("config/studies", "kernels/own"):
        (folder / name).mkdir(parents=True)
    example = ROOT / "examples/new-study"
    shutil.copy(example / "problem.py", folder / "kernels/own")
    for name, file in (("study.yaml", "config/studies/own.yaml"), ("kernel.cu", "kernels/own/own.cu")):
        (folder / file).write_text((example / name).read_text().replace("NAME", "own"))


def test_a_failure_that_may_have_passed_is_tried_again_once_and_a_wrong_result_is_not_forgotten(
    tmp_path: Path,
) -> None:
    fault, error = tmp_path / "fault", tmp_path / "error"
    own_study(tmp_path)
    kernel = (tmp_path / "kernels/own/own.cu").read_text()
    planted = f'{{\n    if (n == 1000 && !access("{fault}", 0)) raise(SIGKILL);\n'
    planted += f'    if (n == 4099 && blockDim.x == 64 && !access("{error}", 0)) factor = 7;\n'
    headers = "#include <signal.h>\n#include <unistd.h>\n"
    (tmp_path / "kernels/own/own.cu").write_text(headers + kernel.replace("{\n", planted, 1))
    command = ("own", "--snakefile", str(ROOT / "Snakefile"))

    fault.touch()
    error.touch()
    first = snakemake(tmp_path, *command)
    assert first.returncode != 0
    assert "The same command runs 3 of them again: the machine may have been at fault." in first.stdout
    # What fails twice in the same words is the kernel's.
    error.unlink()
    second = snakemake(tmp_path, *command).stdout
    third = snakemake(tmp_path, *command, "--dry-run").stdout
    assert "measure_on_emulator" in second and "measure_on_emulator" not in third
    assert "of them again: the machine" not in second
    rows = read_rows(tmp_path / "results/emulator/points/own/own.csv")
    assert {(row["status"], "n=1000" in row["parameters"]) for row in rows} == {("ok", False), ("launch_failed", True)}
    (once,) = (row for row in rows if "once_wrong" in row["flags"])
    assert "n=4099 block=64" in once["parameters"] and "wrong in an earlier run" in once["message"]
    page = (tmp_path / "results/emulator/studies/own/report.html").read_text()
    assert "Wrong in an earlier run" in page


def test_a_pipe_that_closes_before_a_job_fails_ends_the_run(tmp_path: Path) -> None:
    # Pins: a job's thread that can't log the failure, for which Snakemake then waits without end.
    runs, closed = tmp_path / "runs", tmp_path / "closed"
    own_study(tmp_path)
    problem = tmp_path / "kernels/own/problem.py"
    waiting = (
        f"    open({str(runs)!r}, 'w')\n    while not os.path.exists({str(closed)!r}):\n        pass\n    raise OSError"
    )
    problem.write_text("import os\n" + re.sub(r"(def reference\(.*\n)", rf"\1{waiting}\n", problem.read_text()))
    command = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "1", "own"]
    command += ["--workflow-profile", "none", "--config", "platform=emulator"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        wait_until(runs.exists, run)
        run.stdout.close()
        closed.touch()
        try:
            assert run.wait(PATIENCE_SECONDS) == 1
        finally:
            run.kill()
