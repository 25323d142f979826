"""Judge the candidates of the target grade: verdicts as JSON and as JSON lines, and a page."""

import json
from pathlib import Path

from kernelsweep.analysis.proofs import read_proofs
from kernelsweep.judge.comparison.sides import read_records
from kernelsweep.judge.grade import NOT_ACCEPTED, Verdict, add_ratios, grade_answer, judged, report
from kernelsweep.logs import logged
from kernelsweep.measure.journal import journals_of
from kernelsweep.publish.page.embed import link
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.render import comparison_page
from kernelsweep.results import read_rows

with logged(snakemake):
    params = snakemake.params
    rows = {Path(path).stem: read_rows(path) for path in snakemake.input.points}
    proofs = {kernel: proof for (_, kernel), proof in read_proofs(snakemake.input.proofs).items()}
    verdicts = []
    for name, told in params.candidates.items():
        if told["refused"]:
            verdicts.append(Verdict(name, told["file"], NOT_ACCEPTED, False, findings={"source": [told["refused"]]}))
            continue
        of_points, of_proofs = (rows[name], rows[params.against]), (proofs.get(name), proofs.get(params.against))
        verdicts.append(judged(Verdict(name, told["file"]), *of_points, *of_proofs, told["findings"], params.drawn))
        if params.journals:
            records = read_records(journals_of(Path(params.journals[name])))
            add_ratios(verdicts[-1], rows[name], records, params.sizes, params.margin)
    summary, text = report(verdicts, params.of_study, params.against, params.margin)
    Path(snakemake.output.verdict).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    page, title = Path(snakemake.output.page), f"Candidates for {params.of_study}"
    content = {
        "index": link(Path(params.index), page.parent),
        "sides": "",
        "compared": f"time / that of {params.against}",
        "files": ["verdict.json", "verdicts.jsonl"],
        "text": to_html(text, "grade", title, page.parent, page.parent),
    }
    page.write_text(comparison_page(title, summary, {}, **content), encoding="utf-8")
    grade_answer(summary, snakemake.output.verdict, snakemake.output.page).write(snakemake.output.answer)
    lines = [json.dumps(one) for one in summary["candidates"]]
    Path(snakemake.output.lines).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(*summary["verdict"], sep="\n")
