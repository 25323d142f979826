# What commits did to the kernels: `compare` over git's revisions, in runs of their own. Not part of `all`.

from kernelsweep.measure.environment import git_revision


# The runs lease a GPU themselves.
localrules:
    end_commits,


# Its output is the run's answer.
rule end_commits:
    output:
        path("commits"),
    log:
        log("end_{way}", scope="commits"),
    wildcard_constraints:
        way="bisect|history",
    conda:
        "../../envs/kernelsweep.yaml"
    threads: CORES or 1
    params:
        good=config["good"],
        paths=[*(f"config/studies/{study}.yaml" for study in config["studies"]), "kernels"],
        settings={name: value for name, value in PROJECT.config.values().items() if name != "good"},
        head=lambda wildcards: git_revision(),
        code=code_of("judge/end_commits.py"),
    script:
        "../scripts/judge/end_commits.py"
