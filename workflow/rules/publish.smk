# Measurements to what readers see: tables, figures, and the summary that ends a run.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    make_table,
    draw_figures,
    summarise,
    summarise_study,
    give_verdict,
    give_verdict_on_study,


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
        code=code_of("make_table.py"),
    script:
        "../scripts/make_table.py"


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
            code_of(f"kernelsweep/figures/{figure}.py")
            for figure in study_figures(wildcards.platform, wildcards.study)
        ],
    script:
        "../scripts/draw_figures.py"


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
        code=code_of("summarise.py"),
    script:
        "../scripts/summarise.py"


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
        code=code_of("summarise.py"),


# Ends a run: shows the summary, and fails where a result was wrong. It comes after everything else, so that one wrong
# kernel costs no other kernel its results.
rule give_verdict:
    input:
        summary="results/{platform}/summary.md",
        judgements=lambda wildcards: judgements(f"results/{wildcards.platform}"),
        measurements=["results/{platform}/measurements.csv"],
        environment="results/{platform}/environment.json",
        published=lambda wildcards: published_files(wildcards.platform, config["studies"]),
        page="results/{platform}/report.html",
    output:
        touch("results/{platform}/.verdict"),
    log:
        "results/{platform}/logs/give_verdict.log",
    # The verdict is the same at every attempt, as many as a cluster's profile allows.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("give_verdict.py"),
    script:
        "../scripts/give_verdict.py"


use rule give_verdict as give_verdict_on_study with:
    input:
        summary="results/{platform}/studies/{study}/summary.md",
        judgements=lambda wildcards: judgements(f"results/{wildcards.platform}/studies/{wildcards.study}"),
        measurements=study_measurements,
        published=lambda wildcards: published_files(wildcards.platform, [wildcards.study]),
        page="results/{platform}/studies/{study}/report.html",
    output:
        touch("results/{platform}/studies/{study}/.verdict"),
    log:
        "results/{platform}/logs/give_verdict/{study}.log",
