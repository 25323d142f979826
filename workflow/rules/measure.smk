# Binaries to measurements: one job a kernel, or several for a long one.


rule describe_device:
    output:
        path("device"),
    log:
        log("describe_device"),
    wildcard_constraints:
        platform=names.MEASURED,
    priority: FIRST
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **AT_THE_DEVICE,
    params:
        plan=plan.device,
    script:
        "../scripts/sweep/describe_device.py"


rule measure_kernel:
    input:
        kernel=code.kernel_file,
        included=code.included,
        build=inputs.measured_build,
        device=path("device"),
        problem=code.problem_files,
        chunks=inputs.chunks,
        against=inputs.against,
    output:
        points=path("points"),
        samples=path("samples"),
        builds=path("kernel_builds"),
    log:
        log("measure_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: resources.priority
    conda:
        "../../envs/kernelsweep.yaml"
    # One, unless it compiles while it measures.
    threads: resources.measuring_threads
    resources:
        **AT_THE_DEVICE,
        measuring=lambda wildcards: int(kind_of(wildcards.platform).needs_gpu),
    params:
        plan=plan.kernel,
    script:
        "../scripts/sweep/measure_kernel.py"


# On the emulator, every access is watched: the sweep is the kernel's proof.
use rule measure_kernel as measure_on_emulator with:
    output:
        points=path("points"),
        samples=path("samples"),
        builds=path("kernel_builds"),
        proofs=path("kernel_proofs"),
    wildcard_constraints:
        platform=EMULATOR,


# A long kernel's sweep is cut into chunks. Each is a job, and leaves its points in the kernel's journals.
use rule measure_kernel as measure_chunk with:
    output:
        temp(path("chunk")),
    log:
        log("measure_kernel", "{study}", "{kernel}", "{chunk}-of-{chunks}"),
    wildcard_constraints:
        platform=names.MEASURED,


rule collect:
    input:
        points=inputs.points,
        builds=inputs(file="kernel_builds").of_kernels,
        proofs=inputs.proofs,
    output:
        measurements=path("measurements"),
        builds=path("builds"),
    log:
        log("collect"),
    wildcard_constraints:
        platform=names.MEASURED,
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/sweep/collect.py"


rule describe_environment:
    input:
        measurements=path("measurements"),
        device=path("device"),
        reports=inputs.build_reports,
    output:
        path("environment"),
    log:
        log("describe_environment"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    # It names the processor of the GPU's host.
    resources:
        **AT_THE_DEVICE,
    params:
        plan=plan.environment,
    script:
        "../scripts/sweep/describe_environment.py"
