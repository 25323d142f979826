# What each kernel does to memory, counted on the emulator: one job a kernel, and a picture of a warp's accesses a study.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    draw_access_pattern,
    compare_counts,


rule count_kernel:
    input:
        kernel=kernel_file,
        included=included,
        binary=f"results/build/{COUNTING_TARGET}/{{study}}/{{kernel}}.bin",
        report=f"results/build/{COUNTING_TARGET}/{{study}}/{{kernel}}.json",
    output:
        counts=f"results/{EMULATOR}/counts/{{study}}/{{kernel}}.csv",
        findings=f"results/{EMULATOR}/counts/{{study}}/{{kernel}}.findings.csv",
        trace=f"results/{EMULATOR}/counts/{{study}}/{{kernel}}.trace.json",
    log:
        f"results/{EMULATOR}/logs/count_kernel/{{study}}/{{kernel}}.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        points=lambda wildcards: [[dict(point) for point in points] for points in counting_points(wildcards)],
        problem=lambda wildcards: STUDIES[wildcards.study].settings["problem"],
        seed=config["seed"],
        code=code_of("observe/count_kernel.py"),
    script:
        "../scripts/observe/count_kernel.py"


rule draw_access_pattern:
    input:
        traces=lambda wildcards: [
            f"results/{EMULATOR}/counts/{wildcards.study}/{kernel}.trace.json"
            for kernel in STUDIES[wildcards.study].kernels
        ],
    output:
        multiext(f"results/{EMULATOR}/counts/{{study}}/access_pattern", ".svg", ".png", ".pdf"),
    log:
        f"results/{EMULATOR}/logs/draw_access_pattern/{{study}}.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        title=lambda wildcards: STUDIES[wildcards.study].settings["title"],
        code=code_of("observe/draw_access_pattern.py"),
    script:
        "../scripts/observe/draw_access_pattern.py"


# A page that is kept in the repository, for readers who have neither.
rule compare_counts:
    input:
        counted=f"results/{EMULATOR}/metrics.csv",
        measured="results/recording/{name}/metrics.csv",
        device="results/recording/{name}/device.json",
    output:
        "docs/{name}/counted.md",
    log:
        "results/recording/{name}/logs/compare_counts.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        steps=[
            (study, step["kernel"], step["unroll"])
            for study in config["studies"]
            for step in STUDIES[study].settings["ladder"]
        ],
        command="uv run snakemake --cores 2 counted_against_ncu",
        code=code_of("observe/compare_counts.py"),
    script:
        "../scripts/observe/compare_counts.py"
