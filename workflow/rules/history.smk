# Each kernel's best time over its versions, from the journals. Not part of `all`.


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    end_history,


# Its output is the run's answer.
rule end_history:
    input:
        points=lambda wildcards: [
            points for points, _ in parameters.versioned_kernels(PROJECT, wildcards.platform).values()
        ],
        device=path("device"),
    output:
        text=path("history", file="history.md"),
        rows=path("history", file="history.csv"),
    log:
        log("end_history"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        kernels=for_job(parameters.versioned_kernels),
        studies=for_job(parameters.versioned_studies),
        margin=config["compare"]["same_within"],
        code=code_of("judge/end_history.py"),
    script:
        "../scripts/judge/end_history.py"
