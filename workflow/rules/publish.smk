# Measurements to what readers see: tables, figures, one HTML page of all of it, and the summary that ends a run.

from kernelsweep.publish.page.render import SCRIPT, SOURCES, STYLE, TEMPLATE


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    make_table,
    draw_figures,
    summarise,
    summarise_study,
    make_page,
    make_study_page,
    end_run,
    end_run_of_study,


rule make_table:
    input:
        measurements=study_measurements,
        device="results/{platform}/device.json",
        published=published_file,
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, [wildcards.study]),
    output:
        md=report(
            "results/{platform}/studies/{study}/table.md",
            category="{study}",
            subcategory="{platform}",
            labels={"result": "table"},
            caption="../report/table.rst",
        ),
        csv="results/{platform}/studies/{study}/table.csv",
        tex="results/{platform}/studies/{study}/table.tex",
    log:
        "results/{platform}/logs/make_table/{study}.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        study=shown_settings,
        definitions=lambda wildcards: metric_definitions(wildcards.study),
        metrics_there=lambda wildcards: metrics_there(wildcards.platform, [wildcards.study]),
        code=code_of("publish/make_table.py"),
    script:
        "../scripts/publish/make_table.py"


# One job draws all of a study's figures: starting Python and matplotlib takes twice as long as drawing one.
rule draw_figures:
    input:
        measurements=study_measurements,
        device="results/{platform}/device.json",
        published=published_file,
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, [wildcards.study]),
    output:
        report(
            directory("results/{platform}/studies/{study}/figures"),
            patterns=["{figure}.svg"],
            category="{study}",
            subcategory="{platform}",
            labels={"result": "{figure}"},
            caption="../report/figure.rst",
        ),
    log:
        "results/{platform}/logs/draw_figures/{study}.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        study=shown_settings,
        figures=lambda wildcards: study_figures(wildcards.platform, wildcards.study),
        widths=config["figure_widths"],
        definitions=lambda wildcards: metric_definitions(wildcards.study),
        metrics_there=lambda wildcards: metrics_there(wildcards.platform, [wildcards.study]),
        code=lambda wildcards: [
            code_of(f"kernelsweep/publish/figures/{figure}.py")
            for figure in study_figures(wildcards.platform, wildcards.study)
        ],
    script:
        "../scripts/publish/draw_figures.py"


rule summarise:
    input:
        measurements=all_measurements,
        device="results/{platform}/device.json",
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, config["studies"]),
    output:
        "results/{platform}/summary.md",
    log:
        "results/{platform}/logs/summarise.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=config["studies"],
        metrics_there=lambda wildcards: metrics_there(wildcards.platform, config["studies"]),
        plan=lambda wildcards: plan_of(wildcards.platform, config["studies"]),
        code=code_of("publish/summarise.py"),
    script:
        "../scripts/publish/summarise.py"


use rule summarise as summarise_study with:
    input:
        measurements=study_measurements,
        device="results/{platform}/device.json",
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, [wildcards.study]),
    output:
        "results/{platform}/studies/{study}/summary.md",
    log:
        "results/{platform}/logs/summarise/{study}.log",
    params:
        studies=lambda wildcards: [wildcards.study],
        metrics_there=lambda wildcards: metrics_there(wildcards.platform, [wildcards.study]),
        plan=lambda wildcards: plan_of(wildcards.platform, [wildcards.study]),
        code=code_of("publish/summarise.py"),


# All results of a platform, or of one study, on one HTML page: report.html.
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
        code=code_of("publish/make_page.py"),
    script:
        "../scripts/publish/make_page.py"


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
        code=code_of("publish/make_page.py"),


# Ends a run: shows the summary, and fails where a result was wrong. It comes after everything else, so that one wrong
# kernel costs no other kernel its results.
rule end_run:
    input:
        summary="results/{platform}/summary.md",
        judgements=lambda wildcards: judgements(f"results/{wildcards.platform}"),
        measurements=["results/{platform}/measurements.csv"],
        device="results/{platform}/device.json",
        environment="results/{platform}/environment.json",
        published=lambda wildcards: published_files(wildcards.platform, config["studies"]),
        page="results/{platform}/report.html",
    output:
        touch("results/{platform}/.verdict"),
    log:
        "results/{platform}/logs/end_run.log",
    # The verdict is the same at every attempt, as many as a cluster's profile allows.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=lambda wildcards: plan_of(wildcards.platform, config["studies"]),
        code=code_of("publish/end_run.py"),
    script:
        "../scripts/publish/end_run.py"


use rule end_run as end_run_of_study with:
    input:
        summary="results/{platform}/studies/{study}/summary.md",
        judgements=lambda wildcards: judgements(f"results/{wildcards.platform}/studies/{wildcards.study}"),
        measurements=study_measurements,
        device="results/{platform}/device.json",
        published=lambda wildcards: published_files(wildcards.platform, [wildcards.study]),
        page="results/{platform}/studies/{study}/report.html",
    output:
        touch("results/{platform}/studies/{study}/.verdict"),
    log:
        "results/{platform}/logs/end_run/{study}.log",
    params:
        plan=lambda wildcards: plan_of(wildcards.platform, [wildcards.study]),
        code=code_of("publish/end_run.py"),
