"""The documents keep their promises: the tests follow their steps, and their commands are CI's."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

from checkout import ROOT
from workflow_runs import shrink, snakemake

MAIN_COMMAND = "pip install uv && uv run snakemake --cores 1 all"
TEST_COMMAND = "uv run pytest"


def test_adding_a_kernel_works_as_written(finished: Path) -> None:
    page = (finished / "docs/adding-a-kernel.md").read_text()
    path, source = re.findall(r"Save this as `([^`]+)`:\n\n```cuda\n(.*?)```", page, re.DOTALL)[0]
    (finished / path).write_text(source)
    study = finished / re.findall(r"In `(config/studies/[^`]+)`", page)[0]
    additions = re.findall(r"after the line\s+`([^`]+)`:\n\n```yaml\n(.*?)```", page, re.DOTALL)
    assert len(additions) == 2
    for line, added in additions:
        assert f"{line}\n" in study.read_text()
        study.write_text(study.read_text().replace(f"{line}\n", f"{line}\n{added}", 1))
    command = re.findall(r"```sh\nuv run snakemake --cores 1 (\w+)\n```", page)[0]

    run = snakemake(finished, command)
    assert run.returncode == 0, run.stdout
    assert "kernel=shuffle_down" in run.stdout
    assert "kernel=shuffle\n" not in run.stdout, "only the new kernel is built and run"
    table = finished / "results/emulator/studies/warp_shuffle/table.csv"
    with table.open(newline="") as file:
        added_row = next(row for row in csv.DictReader(file) if row["kernel"] == "shuffle_down")
    assert added_row["points_right"] == added_row["points_run"] != "0"


def test_adding_an_operation_works_as_written(project: Path) -> None:
    page = (project / "docs/adding-a-kernel.md").read_text()
    chapter = page[page.index("## A new operation") : page.index("## A new study")]
    (struct,), (entry, branch), (of_study, of_axes) = (
        re.findall(rf"```{language}\n(.*?)```", chapter, re.DOTALL) for language in ("cuda", "python", "yaml")
    )
    device = project / "kernels/include/operations.cuh"
    device.write_text(device.read_text() + "\n" + struct)
    host = project / "kernels/reduction_problem.py"
    begin = r'(def _repeated\(.*\n    """.*"""\n)'
    text, branches = re.subn(begin, lambda found: found[0] + branch, host.read_text())
    text, entries = re.subn(r"(?m)^COMBINE = \{", lambda found: f"{found[0]}\n{entry}", text)
    assert branches == entries == 1
    host.write_text(text)
    study = project / "config/studies/operations.yaml"
    text, words = re.subn(r"(?m)^cxx: .*\n", of_study, study.read_text())
    text, axes = re.subn(r"(?m)^  operation: .*\n", of_axes, text)
    assert words == axes == 1
    study.write_text(text)
    shrink(project, ["operations"])

    run = snakemake(project, "results/emulator/points/operations/shuffle.csv")
    assert run.returncode == 0, run.stdout
    with (project / "results/emulator/points/operations/shuffle.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["operation"] == "exclusive_or"]
    assert {(row["dtype"], row["status"]) for row in rows} == {("int32", "ok"), ("int64", "ok")}


def test_your_kernel_works_as_written(tmp_path: Path) -> None:
    page = (ROOT / "docs/your-kernel.md").read_text()
    for path, source in re.findall(r"Save this as `([^`]+)`:\n\n```\w+\n(.*?)```", page, re.DOTALL):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source)
    command = "uv run --project ../kernelsweep snakemake -s ../kernelsweep/Snakefile --cores 1 "
    for study, config in re.findall(rf"{re.escape(command)}(\w+)(?: --config '(.*)')?\n", page):
        words = ["--config", "platform=emulator", *([config] if config else [])]
        run = snakemake(tmp_path, study, *words, "--snakefile", str(ROOT / "Snakefile"), *(["-n"] if config else []))
        assert run.returncode == 0, run.stdout
    with (tmp_path / "results/emulator/points/sgemm/sgemm.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"ok"} and len(rows) == 6
    assert rows[0]["parameters"] == "n=64 tile=8 rows=1"
    for study in ("sgemm", "combined"):
        summary = (tmp_path / f"results/emulator/studies/{study}/summary.md").read_text()
        assert "Every point that was run is right" in summary
    with (tmp_path / "results/emulator/studies/combined/table.csv").open(newline="") as file:
        steps = [(row["kernel"], row["unroll"], row["points_right"]) for row in csv.DictReader(file)]
    assert steps == [("in_place", "1", "8"), ("two_launches", "1", "16"), ("two_launches", "4", "16")]


def test_a_repository_of_ones_own_runs_the_edited_kernel_alone(tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(ROOT / "examples/own-repository", own)
    snakefile = (own / "Snakefile").read_text()
    (own / "Snakefile").write_text(snakefile.replace("../../Snakefile", str(ROOT / "Snakefile")))
    points = [f"results/emulator/points/{name}.csv" for name in ("axpy/axpy", "axpy/axpy_vectors", "total/block_sums")]
    start = [sys.executable, str(ROOT / "workflow/scripts/new_study.py"), "scaled"]
    assert subprocess.run(start, cwd=own, capture_output=True).returncode == 0
    assert b"exists already" in subprocess.run(start, cwd=own, capture_output=True).stderr
    points.append("results/emulator/points/scaled/scaled.csv")
    assert snakemake(own, *points, "--config", "platform=emulator").returncode == 0
    with (own / points[3]).open(newline="") as file:
        assert [row["status"] for row in csv.DictReader(file)] == 6 * ["ok"], "a new study runs as it is written"
    with (own / points[2]).open(newline="") as file:
        launched = {(row["parameters"], row["launches"], row["status"]) for row in csv.DictReader(file)}
    assert {("n=1 block=32", "1", "ok"), ("n=1000 block=32", "2", "ok"), ("n=5000 block=32", "3", "ok")} < launched
    before = (own / points[1]).stat().st_mtime_ns
    edited = own / "kernels/axpy/axpy.cu"
    edited.write_text(edited.read_text().replace("a * x[i] + y[i]", "a * x[i]"))
    run = snakemake(own, *points, "--config", "platform=emulator")
    assert run.returncode == 0 and "kernel=axpy\n" in run.stdout and "kernel=axpy_vectors" not in run.stdout
    assert (own / points[1]).stat().st_mtime_ns == before
    with (own / points[0]).open(newline="") as file:
        messages = {row["status"]: row["message"] for row in csv.DictReader(file)}
    assert list(messages) == ["wrong_result"] and "y" in messages["wrong_result"]
    study = own / "config/studies/axpy.yaml"
    study.write_text(study.read_text().replace("[y, x, a, n]", "[y, xx, a, n]"))
    refused = snakemake(own, "axpy", "--config", "platform=emulator")
    assert refused.returncode == 1 and "build_kernel" not in refused.stdout, "mistakes are found before any build"
    last_words = refused.stdout.strip().splitlines()[-1]
    assert last_words.startswith("config/studies/axpy.yaml: the kernel 'axpy': launches.0.arguments has 'xx'; did you")
    study.write_text(study.read_text().replace("[y, xx, a, n]", "[y, x, a]"))
    refused = snakemake(own, points[0], "--config", "platform=emulator")
    last_words = refused.stdout.strip().splitlines()[-1]
    assert last_words.endswith("'axpy': launches: axpy has 4 parameters, and the launch gives 3 arguments.")


def test_the_readmes_commands_are_the_ones_that_ci_runs(root: Path) -> None:
    readme = (root / "README.md").read_text()
    ci = (root / ".ci/run").read_text()
    for command in (MAIN_COMMAND, TEST_COMMAND):
        assert f"    {command}" in readme
        assert f"'{command}'" in ci


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_documents_link_to_files_and_headings_that_exist(root: Path) -> None:
    for page in pages(root):
        for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", page.read_text()):
            target, _, heading = (link[0] or link[1]).partition("#")
            if "://" in target:
                continue
            where = f"{page.relative_to(root)} links to {target}#{heading}"
            assert (page.parent / target).exists(), where
            assert not heading or heading in anchors(page.parent / target if target else page), where


def test_documents_and_comments_name_files_that_exist(root: Path) -> None:
    folders = "benchmarks|config|docs|envs|examples|kernels|resources|tests|workflow"
    endings = r"cuh?|[hc]pp|csv|json(?:\.gz)?|md|py|rst|smk|ya?ml"
    name = re.compile(rf"(?<![\w/.>}}-])(?:{folders})/[\w./-]+\.(?:{endings})\b")
    sources = [root / "Snakefile", root / ".ci/run", *root.glob("config/**/*.yaml"), *root.glob("workflow/**/*.*")]
    for file in [*pages(root), *(source for source in sources if source.suffix != ".pyc")]:
        text = file.read_text()
        to_be_made = set(re.findall(r"Save this as `([^`]+)`", text))
        for path in set(name.findall(text)) - to_be_made:
            assert (root / path).exists(), f"{file.relative_to(root)} names {path}"


def pages(root: Path) -> list[Path]:
    """Every document of the project."""
    return [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("config/*.md"), *root.glob("benchmarks/*.md")]
