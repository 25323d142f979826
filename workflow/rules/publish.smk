# Measurements to what readers see: tables, figures, a summary, and one page with all of it.


import itertools

from kernelsweep.drawing.figure_formats import formats_of
from kernelsweep.publish import figure_files


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    make_table,
    summarise,
    make_page,
    hold_against_recordings,
    end_run,


rule make_table:
    input:
        measurements=for_job(inputs.measurements),
        device=files.device(),
        proofs=for_job(inputs.proofs),
        published=for_job(inputs.published_data),
        metrics=for_job(inputs.made_metrics),
        kernels=by_code(inputs.kernel_files),
    output:
        md=files.table("md"),
        csv=files.table("csv"),
        tex=files.table("tex"),
        short=files.short_table(),
        steps=files.steps(),
    log:
        files.log("make_table", "{study}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        study=for_job(parameters.shown_settings),
        definitions=for_job(parameters.metric_definitions),
        found_metrics=for_job(inputs.found_metrics),
        accesses=for_job(parameters.told_accesses),
        kernel_codes=for_job(parameters.kernel_codes),
        edited=for_job(parameters.edited_kernels),
        code=code_of("publish/make_table.py"),
    script:
        "../scripts/publish/make_table.py"


# One job draws all of a study's figures: to start Python and matplotlib takes twice as long as to draw a figure. A study
# has a rule of its own, and one for platforms without a clock, because a rule names its outputs, and these are figures
# that a user may delete: only what is named comes back.
for study, has_clock in itertools.product(PROJECT.studies, (True, False)):

    rule:
        name:
            figure_files.rule_name(study, has_clock)
        input:
            measurements=for_job(inputs.measurements),
            device=files.device(),
            proofs=for_job(inputs.proofs),
            published=for_job(inputs.published_data),
            metrics=for_job(inputs.made_metrics),
            own_figures=for_job(inputs.own_figures),
        output:
            [files.figure(file) for file in inputs.drawn_files(PROJECT, study, has_clock)],
        log:
            files.log("draw_figures", "{study}"),
        wildcard_constraints:
            study=study,
            platform=names.BY_CLOCK[has_clock],
        localrule: True
        conda:
            "../../envs/kernelsweep.yaml"
        # At the end of a run only the last study's figures are left to draw. On two cores, a job measures meanwhile.
        threads: max(1, min(4, (CORES or 1) // 2))
        params:
            study=for_job(parameters.shown_settings),
            figures=for_job(parameters.figures),
            look={key: config[f"figure_{key}"] for key in ("widths", "text", "font")},
            formats=formats_of(config["sweep"]),
            definitions=for_job(parameters.metric_definitions),
            found_metrics=for_job(inputs.found_metrics),
            code=lambda wildcards: code_hash_of(
                "publish/draw_figures.py",
                *(
                    Path(file).resolve()
                    for file in parameters.figures(PROJECT, wildcards.platform, wildcards.study).values()
                ),
            ),
        script:
            "../scripts/publish/draw_figures.py"


rule summarise:
    input:
        measurements=for_job(inputs.measurements),
        device=for_job(inputs.device),
        proofs=for_job(inputs.proofs),
        metrics=for_job(inputs.made_metrics),
    output:
        text=files.summary(),
        status=files.status(),
    log:
        files.log("summarise", scope="{scope}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=lambda wildcards: PROJECT.studies_of(wildcards.scope),
        found_metrics=for_job(inputs.found_metrics),
        plan=for_job(parameters.planned_kernels),
        edited=for_job(parameters.edited_kernels),
        code=code_of("publish/summarise.py"),
    script:
        "../scripts/publish/summarise.py"


rule make_page:
    input:
        summary=files.summary(),
        best=files.best("json"),
        measurements=for_job(inputs.joined_measurements),
        device=for_job(inputs.device),
        proofs=for_job(inputs.proofs),
        environment=for_job(inputs.environment),
        published=for_job(inputs.tables_and_figures),
        metrics=for_job(inputs.page_metrics),
        chapters=for_job(inputs.made_chapters),
        accesses=for_job(inputs.accesses),
        builds=for_job(inputs.page_builds),
        samples=for_job(inputs.page_samples),
        sources=for_job(inputs.page_sources),
        kernels=by_code(inputs.kernel_files),
    output:
        files.page(),
    log:
        files.log("make_page", scope="{scope}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        title=for_job(parameters.page_title),
        index=files.index(),
        studies=for_job(parameters.page_studies),
        measurements=for_job(parameters.page_measurements),
        metrics=for_job(parameters.page_metrics),
        chapters=for_job(parameters.page_chapters),
        found_chapters=for_job(inputs.found_chapters),
        kernel_codes=for_job(parameters.kernel_codes),
        edited=for_job(parameters.edited_kernels),
        code=code_of("publish/make_page.py"),
    script:
        "../scripts/publish/make_page.py"


# How near a GPU's times are to the recordings', for the page of all pages. That page is no job's: the end of every run
# makes it (project.smk).
rule hold_against_recordings:
    input:
        measurements=files.measurements(),
        device=files.device(),
        recordings=inputs.compared_recordings(PROJECT),
    output:
        files.beside_recordings(),
    log:
        files.log("hold_against_recordings"),
    wildcard_constraints:
        platform=names.TIMED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        recordings=for_job(parameters.held_recordings),
        code=code_of("publish/hold_against_recordings.py"),
    script:
        "../scripts/publish/hold_against_recordings.py"


# Ends a run: shows the summary, and fails if a result was wrong. It follows everything else, so that a wrong kernel
# costs no other kernel its results.
rule end_run:
    input:
        summary=files.summary(),
        best=files.best("json"),
        claims=files.claims("csv"),
        judgements=for_job(inputs.judgements),
        measurements=for_job(inputs.joined_measurements),
        device=for_job(inputs.device),
        proofs=for_job(inputs.proofs),
        environment=for_job(inputs.environment),
        published=for_job(inputs.tables_and_figures),
        page=files.page(),
    output:
        touch(files.end()),
    log:
        files.log("end_run", scope="{scope}"),
    # Retrying cannot change the verdict.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=for_job(parameters.planned_kernels),
        studies=for_job(parameters.answered_settings),
        edited=for_job(parameters.edited_kernels),
        code=code_of("publish/end_run.py"),
    script:
        "../scripts/publish/end_run.py"
