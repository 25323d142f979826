# All results of a platform, or of one study, on one HTML page: report.html.

from kernelsweep.page.render import SCRIPT, SOURCES, STYLE, TEMPLATE


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    make_page,
    make_study_page,


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
