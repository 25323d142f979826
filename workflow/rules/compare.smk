# Before and after: two sweeps set against each other, as `compare` in config.yaml names them. Not part of `all`.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    compare_sweeps,
    end_comparison,


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
        # Where the journals are, with what was measured before.
        results=lambda wildcards: (
            f"results/{wildcards.platform}"
            if config["compare"]["after"] == NOW
            else str(folder_of(config["compare"]["after"]))
        ),
        studies=config["studies"],
        measuring=config["measuring"],
        seed=config["seed"],
        code=code_of("judge/compare_sweeps.py"),
    script:
        "../scripts/judge/compare_sweeps.py"


# Ends the comparison: shows what it found, and fails where a result went wrong, or as `fail_on` says.
rule end_comparison:
    input:
        text="results/{platform}/comparison/comparison.md",
        summary="results/{platform}/comparison/comparison.json",
    output:
        touch("results/{platform}/comparison/.verdict"),
    log:
        "results/{platform}/logs/end_comparison.log",
    # The verdict is the same at every attempt, as many as a cluster's profile allows.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        fail_on=config["compare"]["fail_on"],
        code=code_of("judge/end_comparison.py"),
    script:
        "../scripts/judge/end_comparison.py"
