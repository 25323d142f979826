# Kernel sources to binaries: one translation unit a kernel, all its variants inside.


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
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        variants=variants,
        include="kernels/include",
        emulator="workflow/emulator",
        code=code_of("build_kernel.py"),
    script:
        "../scripts/build_kernel.py"
