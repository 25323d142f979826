# Kernels to proofs: what the emulator's sweep proves (measure.smk) is proven beside a GPU, too, on its host's cores.


# Less urgent than anything that the GPU waits for.
rule prove_kernel:
    input:
        kernel=code.kernel_file,
        included=code.included,
        emulator=inputs.emulator_runtime,
        problem=code.problem_files,
    output:
        proofs=path("kernel_proofs"),
    log:
        log("prove_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: LAST
    conda:
        "../../envs/kernelsweep.yaml"
    threads: resources.proving_threads
    params:
        plan=plan.proof,
    script:
        "../scripts/observe/prove_kernel.py"


rule collect_proofs:
    input:
        proofs=inputs.proofs,
    output:
        proofs=path("proofs"),
        answer=path("answer", folder="{platform}/proofs"),
    log:
        log("collect_proofs"),
    wildcard_constraints:
        platform=names.MEASURED,
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/observe/collect_proofs.py"


# Each kernel's accesses to memory, counted on the emulator.
use rule prove_kernel as count_kernel with:
    output:
        path("counts", platform=EMULATOR),
    log:
        log("count_kernel", "{study}", "{kernel}", scope=EMULATOR),
    params:
        plan=plan.count,
