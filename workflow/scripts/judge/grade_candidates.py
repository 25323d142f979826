"""Judge the candidates of the target grade: verdicts as JSON and as JSON lines, and a page."""

import json
import time
from html import escape
from pathlib import Path

from kernelsweep.base.json_files import write_json
from kernelsweep.base.logs import logged
from kernelsweep.base.sandbox import described
from kernelsweep.judge.comparison.sides import read_records
from kernelsweep.judge.data.proofs import read_proofs
from kernelsweep.judge.grade import NOT_ACCEPTED, Verdict, add_ratios, faults_of, grade_answer, judged, report
from kernelsweep.publish.index.statuses import when
from kernelsweep.publish.page.embed import link
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.render import comparison_page
from kernelsweep.results import read_rows
from kernelsweep.sweep.journal import journals_of

with logged(snakemake):
    plan = snakemake.params.plan
    rows = {Path(path).stem: read_rows(path) for path in snakemake.input.points}
    proofs = {kernel: proof for (_, kernel), proof in read_proofs(snakemake.input.proofs).items()}
    verdicts = []
    for name, entry in plan.candidates.items():
        if entry["refused"]:
            verdicts.append(Verdict(name, entry["file"], NOT_ACCEPTED, False, findings={"source": [entry["refused"]]}))
            continue
        of_points, of_proofs = (rows[name], rows[plan.against]), (proofs.get(name), proofs.get(plan.against))
        verdicts.append(judged(Verdict(name, entry["file"]), *of_points, *of_proofs, entry["findings"], plan.drawn))
        if plan.journals:
            records = read_records(journals_of(Path(plan.journals[name])))
            add_ratios(verdicts[-1], rows[name], records, plan.sizes, plan.margin)
    faults = faults_of(plan.against, rows[plan.against], proofs.get(plan.against))
    summary, table, text = report(verdicts, plan.of_study, plan.against, plan.margin, faults)
    summary["sandbox"] = described()
    write_json(snakemake.output.verdict, summary)
    page, title = Path(snakemake.output.page), f"Candidates for {plan.of_study}"
    of = f"Study: {plan.of_study}. Each candidate is launched as the study's kernel {plan.against}."
    content = {
        "index": link(Path(plan.index), page.parent),
        "sides": f"<p>{escape(of)} Made {when(time.time_ns())}.</p>",
        "compared": f"time / that of {plan.against}",
        "order": "",
        "code": "",
        "files": ["verdict.json", "verdicts.jsonl"],
        "text": to_html(text, "grade", title, Path(), page.parent),
        "in_words": [],
        "by_size": [],
        "left_out": [],
        "table": table,
    }
    page.write_text(comparison_page(summary["verdict"], summary, {}, **content), encoding="utf-8")
    grade_answer(summary, snakemake.output.page).write(snakemake.output.answer)
    lines = [json.dumps(one) for one in summary["candidates"]]
    Path(snakemake.output.lines).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(*summary["verdict"], sep="\n")
