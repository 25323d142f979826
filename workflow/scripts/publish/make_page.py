"""Put a platform's results, or one study's, on one HTML page that needs nothing beside it."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kernelsweep.analysis.tally import tally
from kernelsweep.logs import logged
from kernelsweep.project import files
from kernelsweep.publish.figures import FIGURES_OF_METRICS, TEXTS_FILE
from kernelsweep.publish.page.chapters import CHAPTERS
from kernelsweep.publish.page.embed import Figure, figure, link
from kernelsweep.publish.page.facts import configuration_text, environment_facts, run_facts
from kernelsweep.publish.page.markdown import to_html
from kernelsweep.publish.page.render import Page, Section, render
from kernelsweep.publish.summary import failed_points
from kernelsweep.results import each_row

page, inputs, params = Path(snakemake.output[0]), snakemake.input, snakemake.params
base = page.parent
results = Path(files.folder(files.parts_of(snakemake.wildcards.scope)[0]))
# A study's figures are of two kinds: drawn from measurements alone, or from metrics as well.
measured, with_metrics = ([Path(path) for path in paths] for paths in (params.measurements, params.metrics))


def html(file: Path, title: str) -> str:
    """A result's Markdown, for below a heading of the second level."""
    return to_html(file.read_text(encoding="utf-8"), title, 3, file.parent, base)


def study_figures(name: str, folder: Path) -> dict[str, Figure]:
    """A study's figures by name, in the order of its story; whether points are right comes last."""
    words = json.loads((folder / "figures" / TEXTS_FILE).read_text(encoding="utf-8"))
    names = sorted(params.studies[name]["figures"], key=lambda figure_name: figure_name == "correctness")
    return {
        drawn: figure(
            folder / f"figures/{drawn}.svg",
            words[drawn],
            [folder / "table.csv", *measured, *(with_metrics if drawn in FIGURES_OF_METRICS else [])],
            base,
        )
        for drawn in names
    }


def study_section(name: str, figures: dict[str, Figure]) -> Section:
    """A study's story: its table, its figures, and what they come from."""
    study, folder = params.studies[name], results / "studies" / name
    return Section(
        name=name,
        title=study["title"],
        description=study["description"],
        points=counted.by_status(name),
        html=html(folder / "table.md", study["title"]),
        figures=list(figures.values()),
        files={
            "The table": [link(folder / f"table.{suffix}", base, suffix.upper()) for suffix in ("csv", "tex", "md")],
            "The study": [link(Path(study["file"]), base, Path(study["file"]).name)],
            "Its kernels": [link(Path(path), base, Path(path).stem) for path in study["kernels"]],
        },
    )


def chapter_section(name: str) -> Section:
    """A chapter that follows the studies."""
    chapter = CHAPTERS[name]
    data = base / chapter.data
    return Section(
        name=name,
        title=chapter.title,
        html=html(base / chapter.markdown, chapter.title),
        figures=[figure(base / f"{path}.svg", {}, [data], base) for path in chapter.figures],
        files={"For programs": [link(data, base)]},
    )


with logged(snakemake.log[0]):
    rows = (row for path in inputs.measurements for row in each_row(path))
    counted = tally(row for row in rows if row["study"] in params.studies)
    device = json.loads(Path(inputs.device).read_text(encoding="utf-8"))
    environment_file = Path(inputs.environment[0]) if inputs.environment else None
    environment = json.loads(environment_file.read_text()) if environment_file else None

    drawn = {name: study_figures(name, results / "studies" / name) for name in params.studies}
    # What a reader came for: times, which are drawn only where there are some; else whether points are right.
    times = [figures["ladder"] for figures in drawn.values() if "ladder" in figures]
    there = [name for name in params.chapters if (base / CHAPTERS[name].markdown).is_file()]
    failed = "\n".join(["# Summary", "", *failed_points(counted)])

    content = Page(
        title=f"{params.title}: {device['name']}",
        facts=run_facts(counted, device, environment),
        statuses=list(counted.by_status()),
        failed=to_html(failed, "failed points", 3, base, base),
        headline=[*times, *(figures["correctness"] for figures in drawn.values())][0],
        summary=html(Path(inputs.summary), "every kernel's points"),
        studies=[study_section(name, drawn[name]) for name in params.studies],
        chapters=[chapter_section(name) for name in there],
        missing=[
            to_html(CHAPTERS[name].missing, CHAPTERS[name].title, 3, base, base)
            for name in params.chapters
            if name not in there
        ],
        environment=environment_facts(counted, device, environment),
        environment_file=link(environment_file, base) if environment_file else None,
        configuration=configuration_text(environment),
    )
    page.write_text(render(content), encoding="utf-8")
