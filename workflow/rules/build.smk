# Kernel sources to binaries: one translation unit a kernel, all its variants inside. And CUB, for the study's rivals.


rule build_kernel:
    input:
        kernel=kernel_file,
        included=included,
        emulator=emulator_headers,
    output:
        binary="results/build/{target}/{study}/{kernel}.bin",
        report="results/build/{target}/{study}/{kernel}.json",
    log:
        "results/build/{target}/{study}/{kernel}.log",
    # Before all measuring, in which the longest kernel is to come first, and beside which no compiler should run.
    priority: FIRST
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        variants=variants,
        include="kernels/include",
        emulator="workflow/emulator",
        code=code_of("build/build_kernel.py"),
    script:
        "../scripts/build/build_kernel.py"


rule build_cub:
    input:
        source="workflow/scripts/kernelsweep/baselines/cub.cu",
    output:
        library="results/build/{target}/cub.so",
        report="results/build/{target}/cub.json",
    log:
        "results/build/{target}/cub.log",
    priority: FIRST
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("build/build_cub.py"),
    script:
        "../scripts/build/build_cub.py"
