# Every kernel under NVIDIA's compute-sanitizer, one job a kernel and tool. Nothing is timed, so jobs may share the GPU.

from kernelsweep.observe.sanitizer import TOOLS, watched_platforms


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    summarise_findings,
    end_sanitizer,


rule sanitize_kernel:
    input:
        kernel=kernel_file,
        included=included,
        binary=built("bin"),
        report=built("json"),
        device="results/{platform}/device.json",
    output:
        result="results/{platform}/sanitizer/{study}/{kernel}.{tool}.json",
        raw="results/{platform}/sanitizer/{study}/{kernel}.{tool}.txt",
    log:
        "results/{platform}/logs/sanitize_kernel/{study}/{kernel}.{tool}.log",
    wildcard_constraints:
        platform=LIVE,
        tool="|".join(TOOLS),
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **where_points_run(lambda wildcards: sanitizing_minutes(config["measuring"])),
    params:
        axes=axes,
        restrictions=restrictions,
        problem=lambda wildcards: STUDIES[wildcards.study].settings["problem"],
        seed=config["seed"],
        timeout_seconds=config["measuring"]["timeout_seconds"],
        code=code_of("observe/sanitize_kernel.py"),
    script:
        "../scripts/observe/sanitize_kernel.py"


rule summarise_findings:
    input:
        results=lambda wildcards: [
            f"results/{wildcards.platform}/sanitizer/{study}/{kernel}.{tool}.json"
            for study in config["studies"]
            for kernel in STUDIES[study].kernels
            for tool in TOOLS
        ],
        device="results/{platform}/device.json",
    output:
        summary="results/{platform}/sanitizer.md",
        rows="results/{platform}/sanitizer.csv",
    log:
        "results/{platform}/logs/summarise_findings.log",
    wildcard_constraints:
        platform=LIVE,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/summarise_findings.py"),
    script:
        "../scripts/observe/summarise_findings.py"


# Ends a run, after every kernel has had its turn: shows the summary, and fails where something unexpected was found.
rule end_sanitizer:
    input:
        results=rules.summarise_findings.input.results,
        summary="results/{platform}/sanitizer.md",
    output:
        touch("results/{platform}/sanitizer/.verdict"),
    log:
        "results/{platform}/logs/end_sanitizer.log",
    wildcard_constraints:
        platform=LIVE,
    # The verdict is the same at every attempt, as many as a cluster's profile allows.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/end_sanitizer.py"),
    script:
        "../scripts/observe/end_sanitizer.py"
