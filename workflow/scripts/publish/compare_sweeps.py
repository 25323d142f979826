"""Compare two sweeps point by point: rows, text as Markdown, a summary as JSON, and a page that needs no other file."""

import time
from collections import deque
from dataclasses import replace
from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.description import read_device
from kernelsweep.judge.comparison.code import changes_of_failed, code_section
from kernelsweep.judge.comparison.counts import counted_points, counted_summary, registers_in_words
from kernelsweep.judge.comparison.sides import previous
from kernelsweep.judge.comparison.text import comparison_answer, comparison_text, verdict_lines
from kernelsweep.judge.comparison.verdicts import compare_points, comparison_rows, comparison_summary, devices
from kernelsweep.judge.comparison.which_files import PREVIOUS
from kernelsweep.judge.data.proofs import (
    failed_proofs,
    message_at,
    mistakes_of,
    proof_errors,
    proofs_in_words,
    read_proofs,
)
from kernelsweep.judge.data.row_counts import RowCounts
from kernelsweep.publish.index.renew import keep_failed
from kernelsweep.publish.index.statuses import when
from kernelsweep.publish.page.embed import link
from kernelsweep.publish.page.explorer import before_and_after
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.render import comparison_page
from kernelsweep.publish.tables.comparison_table import comparison_latex
from kernelsweep.results import COMPARISON_COLUMNS, each_row, read_rows, write_rows

with logged(snakemake):
    plan = snakemake.params.plan
    named, margin = plan.compare, plan.compare["same_within"]
    before, after = (
        [row for path in paths for row in read_rows(path) if row["study"] in plan.sizes]
        for paths in (snakemake.input.before, snakemake.input.after)
    )
    if named["before"] == PREVIOUS:
        earlier = previous(after, Path(plan.results))
        before, reasons, unchanged = earlier.rows, earlier.reasons, earlier.unchanged
        ran = sorted({row["measured"][:16].replace("T", " ") for row in before if row["measured"]})
        of_before = "the newest version before the edit that was right at all points and in all checks"
        if ran:
            of_before += f", run {' to '.join(dict.fromkeys((ran[0], ran[-1])))} UTC, committed or not"
    else:
        reasons, unchanged, of_before = {}, [], named["before"]

    points = compare_points(before, after, margin, reasons, plan.sizes)
    store = UnitStore(Path(plan.store))
    registers = {kernel: registers_in_words(those, store) for kernel, those in counted_points(points).items()}
    verdict = verdict_lines(points, margin, unchanged, registers, plan.never_measured)
    of_after = read_device(snakemake.input.device)["provenance"]
    proofs = read_proofs(snakemake.input.proofs)
    told = RowCounts()
    failed = [point.row for point in points if point.has_failed_since]
    deque(told.count([{name: [row[name] for row in failed] for name in failed[0]}] if failed else []), 0)
    proven, untold = proofs_in_words(proofs) if proofs else "", proof_errors(proofs, told)
    # What a check found in a kernel that is wrong since is the cause: of as many kernels as the verdict has examples.
    kernels = [*dict.fromkeys((row["study"], row["kernel"]) for row in failed)][:4]
    wrong = {of: proofs[of] for of in kernels if of in proofs}
    causes = [(of, message_at(row)) for of, proof in wrong.items() for row in mistakes_of(proof, told)]
    if causes:
        first, *examples = verdict.wrong
        found = [f"A check found in {kernel}: {message}." for (_, kernel), message in causes]
        verdict = replace(verdict, wrong=[first, *found, *examples])
        untold = proof_errors({of: proof for of, proof in proofs.items() if of not in wrong}, told)
    of_proofs = "\n".join([f"\nChecked: {proven}.\n", *(f"- {error}" for error in untold), ""]) if proofs else ""
    write_rows(snakemake.output.rows, COMPARISON_COLUMNS, comparison_rows(points))
    names = devices(points)
    first, second = (names[0], of_after[:1].upper()) if names[1:] else ("Before", f"After: {of_after[:1]}")
    sides = f"{first}: {of_before}. {second}{of_after[1:]}."
    Path(snakemake.output.accesses).mkdir()
    of_code = code_section(points, margin, store, plan.pictured, Path(snakemake.output.accesses))
    end = f"\n## Checks\n{of_proofs}" if proofs else ""
    text = comparison_text(points, margin, verdict, sides) + (f"\n{of_code}" if of_code else "") + end
    Path(snakemake.output.text).write_text(text, encoding="utf-8")
    comment = comparison_text(points, margin, verdict, sides, is_comment=True) + of_proofs
    Path(snakemake.output.comment).write_text(comment, encoding="utf-8")
    summary = {
        "verdict": verdict.all,
        "left_out": verdict.left_out,
        "devices": names,
        **comparison_summary(points, margin),
        "counted": counted_summary(points),
        "proven": proven,
        "failed_proofs": proof_errors(proofs),
        "mistaken": ["/".join(kernel) for kernel in sorted(failed_proofs(proofs))],
    }
    write_json(snakemake.output.summary, summary)
    keep_failed(Path(plan.results), plan.sizes, summary)
    Path(snakemake.output.latex).write_text(comparison_latex(summary, names), encoding="utf-8")

    shown = [kernel for kernel, found in summary["kernels"].items() if found["is_shown"]]
    rows = (row for row in each_row(snakemake.output.rows) if f"{row['study']}/{row['kernel']}" in shown)
    notes = f"# The page has its own\n\n{comparison_text(points, margin)}{end}"
    page = Path(snakemake.output.page)
    explored = before_and_after(plan.explored, rows, shown, f"on {names[0]}" if names[1:] else "before")
    content = {
        "index": link(Path(plan.index), page.parent),
        "sides": to_html(f"{sides} Made {when(time.time_ns())}.", "sides", "", page.parent, page.parent),
        "compared": f"time on {names[1]} / on {names[0]}" if names[1:] else "time after / before",
        "order": "First those that are slower, or slower at some size; then faster, undecided and the same ones."
        " In each group, the ratio farthest from 1 is first.",
        "files": ["comparison.csv", "comparison.json"],
        "code": to_html(of_code, "code", "What changed in the code", page.parent, page.parent),
        "text": to_html(notes, "comparison", "Before and after", page.parent, page.parent),
        "by_size": [*verdict.by_size.values()],
        "left_out": verdict.left_out,
        "in_words": verdict.kernels if verdict.table else [],
        "table": [],
    }
    page.write_text(comparison_page(verdict.on_page, summary, explored, **content), encoding="utf-8")
    answer = comparison_answer(
        verdict,
        summary,
        named["fail_on"],
        snakemake.output.text,
        snakemake.output.page,
        untold,
        changes_of_failed(points, store),
        plan.others,
    )
    answer.write(snakemake.output.answer)
    print(f"{len(points)} points, {sum(point.ratio is not None for point in points)} compared")
