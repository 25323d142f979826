"""Put a platform's results, or one study's, on one HTML page that needs nothing beside it."""

import os
import time
from pathlib import Path

from kernelsweep.base.json_files import read_json
from kernelsweep.base.logs import logged
from kernelsweep.device.description import read_device
from kernelsweep.device.names import is_recording
from kernelsweep.judge.claims.report import claims_title
from kernelsweep.judge.data.measurements import covering
from kernelsweep.judge.data.reference import has_times
from kernelsweep.project.files import parts_of
from kernelsweep.publish.index.statuses import when
from kernelsweep.publish.page.embed import link
from kernelsweep.publish.page.explorer import MOST_POINTS, explorer_data
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.render import render
from kernelsweep.publish.page.sections import chapter_section, claims_figures, html, study_section
from kernelsweep.publish.reach import reach
from kernelsweep.results import each_row, rows_in

with logged(snakemake):
    page, inputs, plan = Path(snakemake.output[0]), snakemake.input, snakemake.params.plan
    base, studies = page.parent, plan.studies
    status, device = read_json(Path(inputs.status)), read_device(inputs.device, studies)
    # A recording's provenance has its day.
    is_new = inputs.environment and not is_recording(snakemake.wildcards.scope)
    day = read_json(inputs.environment[0])["measured"][:10] if is_new else ""

    timed = status["right"] if has_times(device) else 0
    # Each kernel of such a study does other work: its times say nothing.
    of_outputs = [name for name, study in studies.items() if study["compares"] == "outputs"]
    points = {}
    if 0 < timed <= MOST_POINTS:
        uses = {name: status["studies"][name]["uses"] for name in studies if name not in of_outputs}
        answered = {name: studies[name] | {"uses": of_study} for name, of_study in uses.items()}
        points = explorer_data(answered, rows_in(covering(inputs.measurements)))

    # One file, or the folder of one file a kernel.
    files = [Path(os.path.commonpath(inputs.measurements)), *map(Path, inputs.environment)]
    folder = Path(inputs.device).parent / "studies"
    claims = [*each_row(inputs.claims[1])]
    titles = {
        "claims": (claims_title(row["source"] for row in claims), "", claims),
        "best": ("Best configurations", "Each study's, and each kernel's", read_json(inputs.best[1])["entries"]),
    }
    figures = {"claims": claims_figures(Path(inputs.claims_figure), Path(inputs.claims[1]), base)}
    chapters = [
        chapter_section(name, title, words, inputs[name], base, figures.get(name, ()))
        for name, (title, words, rows) in titles.items()
        if rows
    ]

    content = render(
        title=f"{plan.title} – {device['name']}",
        index=link(Path(plan.index), base),
        has_clock=has_times(device),
        platform=parts_of(snakemake.wildcards.scope)[0],
        made=when(time.time_ns()),
        facts=status["facts"] | ({"Measured" if has_times(device) else "Run": day} if day else {}),
        answers=status["studies"],
        claims=status["claims"],
        reach=reach({name: one["answer"] for name, one in status["studies"].items()}),
        failed=to_html(status["failed"], "failed", "failed points", Path(), base),
        summary=html(Path(inputs.summary), "points", "points by study", base),
        studies=[study_section(name, study, folder / name, base) for name, study in studies.items()],
        chapters=chapters,
        points=points,
        of_outputs=of_outputs,
        lacking=[key for key in ("limits", "rivals") if not any(study[key] for study in studies.values())],
        left_out=timed if timed > MOST_POINTS else 0,
        files=[link(file, base) for file in files],
        words=html(Path(inputs.glossary), "words", "the words", base),
    )
    page.write_text(content, encoding="utf-8")
