# Before and after: two sweeps compared, as `compare` in config.yaml names them. Not part of `all`.

from kernelsweep.drawing.figure_formats import formats_of


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    compare_sweeps,
    end_comparison,


rule compare_sweeps:
    input:
        before=for_job(inputs.compared, side="before"),
        after=for_job(inputs.compared, side="after"),
        device=for_job(inputs.compared_device),
        proofs=for_job(inputs.compared_proofs),
    output:
        rows=files.comparison("comparison.csv"),
        text=files.comparison("comparison.md"),
        comment=files.comparison("comment.md"),
        summary=files.comparison("comparison.json"),
        figure=multiext(files.comparison("ratios"), *formats_of(config["sweep"])),
    log:
        files.log("compare_sweeps"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        compare=config["compare"],
        # The folder with the journals, which hold earlier measurements.
        results=for_job(parameters.compared_results),
        studies={study: list(PROJECT.studies[study].problem.size_axes) for study in config["studies"]},
        measuring=config["measuring"],
        seed=config["seed"],
        store=files.unit_store(),
        code=code_of("judge/compare_sweeps.py"),
    script:
        "../scripts/judge/compare_sweeps.py"


# Ends the comparison: shows its findings, and fails if a result went wrong or a proof failed, or as `fail_on` says.
rule end_comparison:
    input:
        text=files.comparison("comparison.md"),
        summary=files.comparison("comparison.json"),
    output:
        touch(files.comparison(".verdict")),
    log:
        files.log("end_comparison"),
    # Retrying cannot change the verdict.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        fail_on=config["compare"]["fail_on"],
        code=code_of("judge/end_comparison.py"),
    script:
        "../scripts/judge/end_comparison.py"
