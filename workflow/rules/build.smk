# Kernel sources to binaries: one translation unit a kernel, with all its variants. And CUB, a library to compare with.

from kernelsweep.baselines.libraries import COMPILED, cub_options, cub_source, header_release
from kernelsweep.sweep.kernels.build_targets import EMULATOR


# What the emulator itself needs is compiled once, not with every kernel.
rule build_emulator:
    input:
        headers=for_job(inputs.emulator_headers),
        source=of_home(f"{EMULATOR_HEADERS}/runtime.cpp", Path.cwd()),
    output:
        files.emulator_runtime("o"),
    log:
        files.emulator_runtime("log"),
    wildcard_constraints:
        target=EMULATOR,
    priority: resources.build_priority(PROJECT, EMULATOR)
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        compiler=for_job(parameters.compiler),
        code=code_of("build/build_emulator.py"),
    script:
        "../scripts/build/build_emulator.py"


rule build_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        emulator=for_job(inputs.emulator_headers),
        runtime=for_job(inputs.emulator_runtime),
    output:
        binary=files.build("bin"),
        report=files.build("json"),
    log:
        files.build("log"),
    priority: for_job(resources.build_priority)
    conda:
        "../../envs/kernelsweep.yaml"
    # Units are compiled side by side, on as many cores as there are.
    threads: for_job(parameters.unit_count)
    params:
        kernel_code=for_job(parameters.kernel_code),
        # Not an output: Snakemake deletes those before a job starts, and compiled units must survive.
        store=files.unit_store(),
        units=for_job(parameters.translation_units),
        options=for_job(parameters.compiler_options),
        compiler=for_job(parameters.compiler),
        constants=for_job(parameters.constants),
        include=include_folders(Path.cwd()),
        emulator=of_home(EMULATOR_HEADERS, Path.cwd()),
        code=code_of("build/build_kernel.py"),
    script:
        "../scripts/build/build_kernel.py"


rule build_cub:
    input:
        source=lambda wildcards: of_home(
            f"workflow/scripts/kernelsweep/baselines/{cub_source(wildcards.library)}", Path.cwd()
        ),
    output:
        library=files.cub("so"),
        report=files.cub("json"),
    log:
        files.cub("log"),
    wildcard_constraints:
        library="|".join(COMPILED),
    priority: resources.build_priority(PROJECT)
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        headers=lambda wildcards: header_release(wildcards.library),
        options=lambda wildcards: cub_options(wildcards.library),
        compiler=for_job(parameters.compiler),
        code=code_of("build/build_cub.py"),
    script:
        "../scripts/build/build_cub.py"
