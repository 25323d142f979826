# Kernels under NVIDIA's compute-sanitizer: one job a kernel and tool. Nothing is timed, so jobs share the GPU.
# They come before any that measures, and wait for none.

from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.project.project import Project


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    summarise_findings,
    end_sanitizer,


rule sanitize_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        binary=for_job(inputs.observed_build, suffix="bin"),
        report=for_job(inputs.observed_build, suffix="json"),
        searched=for_job(inputs.searched_points),
        device=files.device(),
    output:
        result=files.sanitized("json"),
        raw=files.sanitized("txt"),
    log:
        files.log("sanitize_kernel", "{study}", "{kernel}.{tool}"),
    wildcard_constraints:
        platform=names.MEASURED,
        tool="|".join(TOOLS),
    priority: resources.build_priority(PROJECT)
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **at_the_device(resources.minutes_under_sanitizer),
    params:
        kernel_code=for_job(parameters.kernel_code),
        axes=for_job(parameters.axes),
        small_axes=for_job(parameters.proven_axes),
        restrictions=for_job(parameters.restrictions),
        tied=for_job(parameters.setting, key="tied"),
        search=for_job(parameters.setting, key="search"),
        include=include_folders(Path.cwd()),
        store=files.unit_store(),
        compiler=for_job(parameters.measuring_compiler),
        target=for_job(Project.target),
        kernel=for_job(parameters.kernel_settings),
        seed=config["seed"],
        timeout_seconds=config["measuring"]["timeout_seconds"],
        code=code_of("observe/sanitize_kernel.py"),
    script:
        "../scripts/observe/sanitize_kernel.py"


rule summarise_findings:
    input:
        results=for_job(inputs.findings),
        device=files.device(),
    output:
        summary=files.findings("md"),
        rows=files.findings("csv"),
    log:
        files.log("summarise_findings"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/summarise_findings.py"),
    script:
        "../scripts/observe/summarise_findings.py"


# Ends the run: shows the summary, and fails if a tool found something unexpected in any kernel.
rule end_sanitizer:
    input:
        results=for_job(inputs.findings),
        summary=files.findings("md"),
    output:
        touch(files.sanitizer_end()),
    log:
        files.log("end_sanitizer"),
    wildcard_constraints:
        platform=names.MEASURED,
    # Retrying cannot change the verdict.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/end_sanitizer.py"),
    script:
        "../scripts/observe/end_sanitizer.py"
