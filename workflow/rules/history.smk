# Each kernel's best time over its versions, from the journals; and the commit that made it slower. Not part of `all`.

from kernelsweep.measure.environment import git_revision


# On a cluster, too, this little work runs where Snakemake does. The runs in bisect lease a GPU themselves.
localrules:
    end_history,
    end_bisect,


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


# Which commit made kernels slower or wrong: `compare` over git's revisions, in runs of their own.
rule end_bisect:
    output:
        path("bisect"),
    log:
        log("end_bisect", scope="bisect"),
    conda:
        "../../envs/kernelsweep.yaml"
    threads: CORES or 1
    params:
        good=config["good"],
        paths=for_job(inputs.paths_of_studies),
        settings={name: value for name, value in PROJECT.config.values().items() if name != "good"},
        head=lambda wildcards: git_revision(),
        code=code_of("judge/end_bisect.py"),
    script:
        "../scripts/judge/end_bisect.py"
