# Each kernel's accesses to memory, counted on the emulator: one job a kernel.

from kernelsweep.sweep.kernels.build_targets import EMULATOR


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    compare_counts,


rule count_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        emulator=for_job(inputs.emulator_files),
        problem=for_job(inputs.problem_files),
    output:
        path("counts", platform=EMULATOR),
    log:
        log("count_kernel", "{study}", "{kernel}", scope=EMULATOR),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        kernel_code=for_job(parameters.kernel_code),
        points=for_job(lambda project, study, kernel: [*map(dict, observed.counted(project, study, kernel).points)]),
        build=for_job(building.build_settings),
        kernel=for_job(parameters.kernel_settings),
        seed=config["seed"],
        timeout_seconds=config["measuring"]["timeout_seconds"],
        code=code_of("observe/count_kernel.py"),
    script:
        "../scripts/observe/count_kernel.py"


# The emulator's counts beside a recording's counters.
rule compare_counts:
    input:
        counted=path("metrics", platform=EMULATOR),
        measured=path("metrics", platform="recording/{name}"),
        device=path("device", platform="recording/{name}"),
    output:
        path("counted_against_ncu"),
    log:
        log("compare_counts", scope="recording/{name}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        steps=[
            (study, step.kernel, step.unroll)
            for study in config["studies"]
            for step in PROJECT.studies[study].settings.steps
        ],
        command="uv run snakemake --cores 2 counted_against_ncu",
        code=code_of("observe/compare_counts.py"),
    script:
        "../scripts/observe/compare_counts.py"
