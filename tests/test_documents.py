"""The documents keep their promises: the tests follow their steps, and their commands are CI's."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT
from workflow_runs import edit, snakemake

from kernelsweep.errors import UserError
from kernelsweep.project.new_study import start_study
from kernelsweep.results import read_rows

SAVED = re.compile(r"Save this as `([^`]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
SCRIPTS = ROOT / "workflow/scripts"
PUBLISHED = """\
#include <cstdio>
namespace sums {
namespace { const int one = 1; }
/* Adds, and is launched by main. */
template <typename T, int block, const bool twice, int first = 0>
__global__ void add(const T *a, const T *b,
                    T *sums, /* of a, b */ int count)
{
    static_assert(first == 0 && twice, "the value that stands there, and another one");
    int i = blockIdx.x * block + threadIdx.x;
    if (i < count) sums[i] = a[i] + one * b[i];
}
}
int main() { sums::add<float, 1, true><<<1, 1>>>(nullptr, nullptr, nullptr, 0); }
"""
YOUR_COMMAND = "kernelsweep "


def test_a_repository_of_ones_own_works_as_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/your-kernel.md and docs/study-files.md, the README's nine lines, and a new study."""
    own = tmp_path / "own"
    shutil.copytree(ROOT / "examples/own-repository", own, ignore=shutil.ignore_patterns("results", ".snakemake"))
    edit(own / "Snakefile", "../../Snakefile", str(ROOT / "Snakefile"))
    page = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("your-kernel", "study-files"))
    (nine_lines,) = re.findall(r"```yaml\n(title: .*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert nine_lines.count("\n") == 9
    written = [*SAVED.findall(page), ("config/studies/nine.yaml", nine_lines)]
    for path, source in [*written, ("kernels/nine/axpy.cu", (own / "kernels/axpy/axpy.cu").read_text())]:
        (own / path).parent.mkdir(parents=True, exist_ok=True)
        (own / path).write_text(source)
    published = tmp_path / "published.cu"
    published.write_text(PUBLISHED)
    monkeypatch.chdir(own)
    start_study(["scaled"])
    assert (own / ".gitignore").read_text() == "/results/\n/.snakemake/\n"
    (own / ".gitignore").write_text("/mine/\n")
    start_study(["taken", str(published)])
    assert (own / ".gitignore").read_text() == "/mine/\n"
    with pytest.raises(UserError, match=r"problem\.py has no __global__ at all"):
        start_study(["other", "kernels/scaled/problem.py"])
    start = [sys.executable, "-m", "kernelsweep.project.command", "new", "scaled"]
    done = subprocess.run(start, capture_output=True, text=True, env={"PYTHONPATH": str(SCRIPTS)})
    assert done.returncode != 0 and "config/studies/scaled.yaml exists already" in done.stderr
    edit(own / "kernels/taken/problem.py", r"raise NotImplementedError(", 'return {"sums": (a + b) * 1.0}  # ')
    edit(own / "config/studies/taken.yaml", "count: [2^20, 2^24]", "count: [64]")

    # tests/workflow/test_own_repository.py runs the example's own study.
    kernels = ("sgemm/sgemm", "nine/axpy", "scaled/scaled", "taken/taken", "total/block_sums")
    points = {kernel: f"results/emulator/points/{kernel}.csv" for kernel in kernels}
    emulator = ("--config", "platform=emulator")
    run = snakemake(own, *points.values(), *emulator)
    assert run.returncode == 0, run.stdout
    for study, config in re.findall(rf"{re.escape(YOUR_COMMAND)}(\w+) --config '(.*)'\n", page):
        assert snakemake(own, study, "-n", *emulator, config).returncode == 0
    rows = {kernel: read_rows(own / path) for kernel, path in points.items()}
    assert {row["status"] for found in rows.values() for row in found} == {"ok"}
    assert [len(rows[kernel]) for kernel in kernels[:4]] == [6, 8, 6, 9]
    launched = {(row["parameters"], row["launches"]) for row in rows["total/block_sums"]}
    assert {("n=1 block=32", "1"), ("n=1000 block=32", "2"), ("n=5000 block=32", "3")} < launched


def test_the_documents_commands_are_the_ones_that_ci_runs(root: Path) -> None:
    ci = (root / ".ci/run").read_text()
    first = "pip install uv && uv run snakemake --cores 1 all"
    assert f"    {first}\n" in (root / "README.md").read_text() and f"'{first}'" in ci
    tests = "uv run --group test pytest"
    assert f"`{tests}`" in (root / "CONTRIBUTING.md").read_text() and f"'{tests}'" in ci


def test_documents_link_to_files_and_headings_that_exist(root: Path) -> None:
    for page in pages(root):
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            target, _, heading = link.partition("#")
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
        for path in set(name.findall(text)) - {saved for saved, _ in SAVED.findall(text)}:
            found = (root / path).exists() or (root / "examples/own-repository" / path).exists()
            assert found, f"{file.relative_to(root)} names {path}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def pages(root: Path) -> list[Path]:
    """Every document of the project."""
    return [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("config/*.md"), *root.glob("benchmarks/*.md")]
