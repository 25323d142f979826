# Kernels under NVIDIA's compute-sanitizer: one job a kernel and tool. Nothing is timed, so jobs share the GPU.
# The target `sanitize` measures nothing; where kernels are measured, these jobs come after their study's last sample.

from kernelsweep.observe.sanitizer import TOOLS
from kernelsweep.sweep.kernels.build_targets import EMULATOR


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    summarise_findings,
    end_sanitizer,


rule sanitize_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        build=for_job(inputs.observed_build),
        searched=for_job(inputs.searched_points),
        device=path("device"),
    output:
        result=path("sanitized", suffix="json"),
        raw=path("sanitized", suffix="txt"),
    log:
        log("sanitize_kernel", "{study}", "{kernel}.{tool}"),
    wildcard_constraints:
        platform=names.MEASURED,
        tool="|".join(TOOLS),
    priority: resources.first_priority(PROJECT)
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **at_the_device(resources.minutes_under_sanitizer),
    params:
        kernel_code=for_job(parameters.kernel_code),
        sweep=for_job(parameters.sweep),
        small_axes=for_job(parameters.axes, platform=EMULATOR),
        build=for_job(lambda project, platform: building.compiler(project, project.target(platform))),
        kernel=for_job(parameters.kernel_settings),
        seed=config["seed"],
        timeout_seconds=config["measuring"]["timeout_seconds"],
        code=code_of("observe/sanitize_kernel.py"),
    script:
        "../scripts/observe/sanitize_kernel.py"


# It waits for the points of the study's kernels, unless this run only proves.
use rule sanitize_kernel as sanitize_measured_kernel with:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        build=for_job(inputs.observed_build),
        searched=for_job(inputs.searched_points),
        device=path("device"),
        measured=ancient(
            lambda wildcards: (
                []
                if targets_of(workflow) == ["prove"]
                else for_job(lambda project, scope: inputs.of_kernels(project, scope, "points"))(wildcards)
            )
        ),
    output:
        result=path("sanitized_after", suffix="json"),
        raw=path("sanitized_after", suffix="txt"),
    log:
        log("sanitize_measured_kernel", "{study}", "{kernel}.{tool}"),


rule summarise_findings:
    input:
        results=for_job(inputs.findings),
        device=path("device"),
    output:
        summary=path("findings", suffix="md"),
        rows=path("findings", suffix="csv"),
    log:
        log("summarise_findings"),
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
        summary=path("findings", suffix="md"),
    output:
        touch(path("sanitizer_end")),
    log:
        log("end_sanitizer"),
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
