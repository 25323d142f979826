# All results of a platform, or of one study, on one HTML page: report.html.

from kernelsweep.page.chapters import CHAPTERS
from kernelsweep.page.render import SCRIPT, SOURCES, STYLE, TEMPLATE

# The chapters after the studies (kernelsweep/page/chapters.py) whose files are made before the page is, of all studies and
# of one. The others are of all studies, and are shown where they are there.
MADE_CHAPTERS = []


def made_chapters(folder):
    """The files of the chapters that are made before the page is."""
    return [f"{folder}/{file}" for name in MADE_CHAPTERS for file in CHAPTERS[name].files]


def chapters_there(folder):
    """The files of the other chapters that are there anyhow, each with its content's hash."""
    files = [f"{folder}/{file}" for name in CHAPTERS if name not in MADE_CHAPTERS for file in CHAPTERS[name].files]
    return {path: sha256_of(path) for path in files if os.path.isfile(path)}


def page_studies(platform, names):
    """What the page says of studies besides their results, in their order."""
    return {
        name: {
            "title": STUDIES[name].settings["title"],
            "description": STUDIES[name].settings["description"],
            "figures": study_figures(platform, name),
            "file": f"config/studies/{name}.yaml",
            "kernels": [str(kernel.path.relative_to(ROOT)) for kernel in STUDIES[name].kernels.values()],
        }
        for name in names
    }


def page_metrics(platform, studies):
    """Where a reader finds the metrics that figures are drawn from: one file, or the folder of one a kernel."""
    if studies == config["studies"] and joined_metrics(platform):
        return joined_metrics(platform)
    files = [*metrics_to_come(platform, studies), *metrics_there(platform, studies)]
    return files if len(files) < 2 else [os.path.commonpath(files)]


rule make_page:
    input:
        summary="results/{platform}/summary.md",
        measurements=["results/{platform}/measurements.csv"],
        device="results/{platform}/device.json",
        environment=["results/{platform}/environment.json"],
        published=lambda wildcards: published_files(wildcards.platform, config["studies"]),
        metrics=lambda wildcards: joined_metrics(wildcards.platform),
        chapters=lambda wildcards: made_chapters(f"results/{wildcards.platform}"),
        sources=[str((SOURCES / name).relative_to(ROOT)) for name in (TEMPLATE, STYLE, SCRIPT)],
    output:
        report(
            "results/{platform}/report.html",
            category="All studies",
            subcategory="{platform}",
            labels={"result": "all on one page"},
            caption="../report/page.rst",
        ),
    log:
        "results/{platform}/logs/make_page.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        title="kernelsweep",
        studies=lambda wildcards: page_studies(wildcards.platform, config["studies"]),
        measurements=lambda wildcards: [f"results/{wildcards.platform}/measurements.csv"],
        metrics=lambda wildcards: page_metrics(wildcards.platform, config["studies"]),
        chapters=list(CHAPTERS),
        chapters_there=lambda wildcards: chapters_there(f"results/{wildcards.platform}"),
        code=code_of("make_page.py"),
    script:
        "../scripts/make_page.py"


use rule make_page as make_study_page with:
    input:
        summary="results/{platform}/studies/{study}/summary.md",
        measurements=study_measurements,
        device="results/{platform}/device.json",
        # Of a live platform it is written once every study has run.
        environment=lambda wildcards: (
            [f"results/{wildcards.platform}/environment.json"] if is_recording(wildcards.platform) else []
        ),
        published=lambda wildcards: published_files(wildcards.platform, [wildcards.study]),
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, [wildcards.study]),
        chapters=lambda wildcards: made_chapters(f"results/{wildcards.platform}/studies/{wildcards.study}"),
        sources=rules.make_page.input.sources,
    output:
        "results/{platform}/studies/{study}/report.html",
    log:
        "results/{platform}/logs/make_page/{study}.log",
    params:
        title=lambda wildcards: STUDIES[wildcards.study].settings["title"],
        studies=lambda wildcards: page_studies(wildcards.platform, [wildcards.study]),
        measurements=lambda wildcards: (
            [f"results/{wildcards.platform}/measurements.csv"]
            if is_recording(wildcards.platform)
            else [f"results/{wildcards.platform}/points/{wildcards.study}"]
        ),
        metrics=lambda wildcards: page_metrics(wildcards.platform, [wildcards.study]),
        chapters=MADE_CHAPTERS,
        code=code_of("make_page.py"),
