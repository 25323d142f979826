"""Whole runs on the emulator, as a newcomer types them: the files they leave behind, and how they end."""

from __future__ import annotations

import itertools
import json
import re
import shutil
from pathlib import Path

from checkout import ROOT
from workflow_runs import FINISHED_STUDIES, edit, snakemake

from kernelsweep.results import CONTRACT_COLUMNS, read_rows


def csv_files(results: Path) -> dict[str, bytes]:
    return {str(path.relative_to(results)): path.read_bytes() for path in sorted(results.rglob("*.csv"))}


def test_a_run_without_a_gpu_leaves_every_result_and_repeats_byte_for_byte(finished: Path) -> None:
    results = finished / "results/emulator"
    measurements = results / "measurements.csv"
    assert measurements.read_text().startswith(",".join(CONTRACT_COLUMNS))  # More may follow.
    found = read_rows(measurements)
    assert {row["time_us"] + row["bandwidth_gbs"] for row in found} == {""}, "emulated time is not time"
    for study, name in itertools.product(FINISHED_STUDIES, ("table.md", "table.csv", "table.tex")):
        assert (results / "studies" / study / name).stat().st_size > 0
    # A picture for each step of the story, which stands by the step on the page.
    pictures = {path.stem for path in (results / "studies/warp_shuffle/accesses").glob("*.svg")}
    assert pictures == {kernel + factor for kernel in FINISHED_STUDIES["warp_shuffle"] for factor in ("", "_x4")}
    page, drawn = (results / "report.html").read_text(), len([*results.glob("studies/*/accesses/*.svg")])
    assert [page.count(text) for text in ('aria-label="Who accesses what in ', "requests × cost")] == [drawn + 2] * 2
    top, right = page[: page.index('id="answer"')], [row["status"] for row in found].count("ok")
    assert top.count("requests × cost") == 2, "of one study, at the top"
    assert f"<dt>{right:,} of {right:,} points</dt>" in top and "no race, access out of bounds" in top
    environment = json.loads((results / "environment.json").read_text())
    assert environment["configuration"]["config"]["platform"] == "emulator"
    assert environment["compilers"][0].startswith("g++")
    builds = read_rows(results / "builds.csv")
    assert {(row["target"], row["status"]) for row in builds} == {("emulator", "ok")}

    # A restriction leaves points out, and a kernel's axes are its own.
    points = {
        (row["array_size"], row["block_size"], row["unroll"]): (row["status"], row["message"])
        for row in read_rows(results / "points/mine/unrolled.csv")
    }
    right = ("ok", "")
    assert points == {("1000", "64", "4"): right, ("1000", "256", "4"): right}
    assert {row["status"] for row in found} == {"ok"}

    first = csv_files(results)
    of_shuffle = [*(finished / "results").rglob("warp_shuffle/shuffle.*")]
    assert {path.parents[1].name for path in of_shuffle} == {"builds", "journal", "points", "proofs", "samples"} | {
        "measure_kernel"
    }
    for path in (*of_shuffle, results / "measurements.csv", results / "builds.csv"):
        path.unlink()
    run = snakemake(finished, "results/emulator/measurements.csv", "results/emulator/builds.csv")
    assert run.returncode == 0, run.stdout
    assert csv_files(results) == first


def test_a_mistake_is_named_and_costs_no_other_kernel_and_no_other_study_its_results(finished: Path) -> None:
    config = finished / "config/config.yaml"
    without = config.read_text()
    edit(config, "studies: [", "studies: [raising, misspelt, ")
    study = (finished / "config/studies/mine.yaml").read_text()
    (finished / "config/studies/misspelt.yaml").write_text(study.replace("launches:", "launch:"))
    shutil.copytree(finished / "kernels/mine", finished / "kernels/raising")
    problem = (finished / "kernels/reduction_problem.py").read_text()
    (finished / "kernels/raising/problem.py").write_text(f"{problem}\n\ndef reference(data):\n    return unknown\n")
    study = study.replace("kernels/reduction_problem.py", "kernels/raising/problem.py")
    (finished / "config/studies/raising.yaml").write_text(study)
    wrong = finished / "kernels/warp_shuffle/shared_memory.cu"
    misspelt = finished / "kernels/warp_shuffle/shuffle.cu"
    right = {kernel: kernel.read_text() for kernel in (wrong, misspelt)}
    edit(wrong, "= shared[0]", "= shared[1]")
    edit(misspelt, "constexpr unsigned warps", "constexpr unsinged warps")
    points = finished / "results/emulator/points/warp_shuffle/global_memory.csv"
    shutil.rmtree(finished / "results/emulator/studies/warp_shuffle")
    run = snakemake(finished, "all")
    assert run.returncode != 0
    last_words = run.stdout.partition("warp_shuffle/shared_memory: all ")[2]
    place = re.escape("(kernels/warp_shuffle/shared_memory.cu:26)")
    assert re.match(rf"\d+ points are wrong {place}\n  value: expected .*\n  First at array size 1, ", last_words)
    changed = r"was right: kernels/warp_shuffle/shared_memory.cu\n +- .* = shared\[0\];\n +\+ .* = shared\[1\];\n"
    assert re.search(changed, last_words)
    assert re.search(r"warp_shuffle/shuffle: does not compile \(kernels/warp_shuffle/shuffle.cu:\d+\)\n", last_words)
    assert "Exception" not in run.stdout
    line = study[: study.index("launches:")].count("\n") + 1
    told = f"config/studies/misspelt.yaml:{line}: unknown key 'launch' under kernels.0; did you mean 'launches'?"
    first, _, last = run.stdout.partition("Job stats:")
    assert told in first and told in last and "Left out for these mistakes: 1 of 4 studies." in first
    assert last.count("name 'unknown' is not defined") == 1, last
    assert "unsinged" in run.stdout and "shuffle.cu" in run.stdout
    found = read_rows(finished / "results/emulator/measurements.csv")
    statuses = {
        kernel: {row["status"] for row in found if row["kernel"] == kernel}
        for kernel in {row["kernel"] for row in found}
        if kernel not in ("interleaved", "unrolled")
    }
    others = {(row["study"], row["status"]) for row in found if row["study"] != "warp_shuffle"}
    assert others == {("mine", "ok"), ("raising", "skipped")}
    rest = {"ok"}
    assert statuses == {"global_memory": rest, "shared_memory": {"wrong_result"}, "shuffle": {"build_failed"}}
    assert all("expected" in row["message"] for row in found if row["status"] == "wrong_result")
    page = (finished / "results/emulator/report.html").read_text()
    assert "warp_shuffle/shared_memory: all" in page and "= shared[1];</ins>" in page
    assert "Every point that was run is right" not in page
    # The tutorial's picture of such a page has its heading of today.
    (heading,) = re.findall(r"!\[(.*)\]\(pictures/wrong.webp\)", (ROOT / "docs/tutorial.md").read_text())
    assert re.search(f">{re.sub(r'[0-9]+', '[0-9,]+', heading)}", page), heading

    config.write_text(without)
    # Mended, nothing runs of the kernels that were right and have their rows.
    for kernel, text in right.items():
        kernel.write_text(text)
    points.unlink()
    run = snakemake(finished, "results/emulator/measurements.csv")
    assert run.returncode == 0, run.stdout
    assert set(re.findall(r"kernel=(\w+)", run.stdout)) == {"shared_memory", "shuffle", points.stem}
    assert {row["status"] for row in read_rows(finished / "results/emulator/measurements.csv")} == rest
