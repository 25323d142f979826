# Kernel sources to binaries: one translation unit a kernel, with all its variants. And CUB, a library to compare with.

from kernelsweep.sweep.baselines.libraries import COMPILED


# What the emulator itself needs is compiled once, not with every kernel.
rule build_emulator:
    input:
        headers=inputs.emulator_headers,
        source=of_home(f"{EMULATOR_HEADERS}/runtime.cpp", Path.cwd()),
    output:
        path("emulator_runtime", suffix="o"),
    log:
        path("emulator_runtime", suffix="log"),
    wildcard_constraints:
        target=EMULATOR,
    priority: LAST if PROJECT.models else FIRST
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.runtime,
    script:
        "../scripts/compile/build_emulator.py"


rule build_kernel:
    input:
        kernel=code.kernel_file,
        included=code.included,
        emulator=inputs.emulator_runtime,
    output:
        binary=path("build", suffix="bin"),
        report=path("build", suffix="json"),
    log:
        path("build", suffix="log"),
    priority: resources.priority
    conda:
        "../../envs/kernelsweep.yaml"
    threads: resources.build_threads
    params:
        plan=plan.build,
    script:
        "../scripts/compile/build_kernel.py"


# Ends a build: says what does not compile, and fails. In a sweep, that makes rows instead.
rule end_build:
    input:
        reports=inputs(suffix="json").builds,
    output:
        touch(path("build_end")),
    log:
        log("end_build", scope="build/{target}"),
    # Retrying cannot change the verdict.
    retries: 0
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/compile/end_build.py"


rule build_cub:
    input:
        source=of_home("workflow/scripts/kernelsweep/sweep/baselines/cub.cu", Path.cwd()),
    output:
        library=path("cub", suffix="so"),
        report=path("cub", suffix="json"),
    log:
        path("cub", suffix="log"),
    wildcard_constraints:
        library="|".join(COMPILED),
    priority: FIRST
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.cub,
    script:
        "../scripts/compile/build_cub.py"
