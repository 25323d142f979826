# Before and after: two sweeps set against each other, as `compare` in config.yaml names them. Not part of `all`.

from kernelsweep.comparison.choice import (
    NOW,
    PREVIOUS,
    check_sides,
    compared_platform,
    folder_of,
    journal_files,
    side_files,
)


def comparison():
    """The last of the comparison's files."""
    before, after = config["compare"]["before"], config["compare"]["after"]
    platform = compared_platform(after, PLATFORMS)
    try:
        check_sides(before, after, platform)
        # Here, not only where they are read: with an older comparison there, Snakemake would be content with that.
        for side in {before, after} - {PREVIOUS, NOW}:
            side_files(side, config["studies"])
    except UserError as error:
        raise WorkflowError(str(error)) from None
    return f"results/{platform}/comparison/.verdict"


def compared_files(side):
    """The input function for a side's measurements; what is measured now is brought up to date first."""

    def paths(wildcards):
        named = config["compare"][side]
        if named == PREVIOUS:
            return []
        if named != NOW:
            return side_files(named, config["studies"])
        if is_recording(wildcards.platform):
            return [f"results/{wildcards.platform}/measurements.csv"]
        return [
            f"results/{wildcards.platform}/points/{study}/{kernel}.csv"
            for study in config["studies"]
            for kernel in STUDIES[study].kernels
        ]

    return paths


def journals(wildcards):
    """The journals with the measurements before those of now."""
    after = config["compare"]["after"]
    folder = Path("results") / wildcards.platform if after == NOW else folder_of(after)
    return journal_files(folder, [(study, kernel) for study in config["studies"] for kernel in STUDIES[study].kernels])


rule compare_sweeps:
    input:
        before=compared_files("before"),
        after=compared_files("after"),
        # What is said of a folder of results is in its environment.json.
        device=lambda wildcards: (
            f"results/{wildcards.platform}/device.json" if config["compare"]["after"] == NOW else []
        ),
    output:
        rows="results/{platform}/comparison/comparison.csv",
        text="results/{platform}/comparison/comparison.md",
        summary="results/{platform}/comparison/comparison.json",
        figure=multiext("results/{platform}/comparison/ratios", ".svg", ".png", ".pdf"),
    log:
        "results/{platform}/logs/compare_sweeps.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        compare=config["compare"],
        journals=journals,
        studies=config["studies"],
        measuring=config["measuring"],
        seed=config["seed"],
        code=code_of("compare_sweeps.py"),
    script:
        "../scripts/compare_sweeps.py"


# Ends the comparison: shows what it found, and fails where a result went wrong, or as `fail_on` says.
rule judge_comparison:
    input:
        text="results/{platform}/comparison/comparison.md",
        summary="results/{platform}/comparison/comparison.json",
    output:
        touch("results/{platform}/comparison/.verdict"),
    log:
        "results/{platform}/logs/judge_comparison.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        fail_on=config["compare"]["fail_on"],
        code=code_of("judge_comparison.py"),
    script:
        "../scripts/judge_comparison.py"
