# Binaries to measurements: one job a kernel, or several for a long one.


from kernelsweep.project.project import Project
from kernelsweep.sweep.kernels.build_targets import EMULATOR


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    collect,


rule describe_device:
    output:
        files.device(),
    log:
        files.log("describe_device"),
    wildcard_constraints:
        platform=names.MEASURED,
    priority: resources.build_priority(PROJECT)
    conda:
        "../../envs/kernelsweep.yaml"
    resources:
        **at_the_device(resources.shortest_minutes),
    params:
        state=for_job(lambda project, platform: project.models[platform].state if platform in project.models else None),
        code=code_of("measure/describe_device.py"),
    script:
        "../scripts/measure/describe_device.py"


rule measure_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        binary=for_job(inputs.measured_build, suffix="bin"),
        report=for_job(inputs.measured_build, suffix="json"),
        device=files.device(),
        problem=for_job(inputs.problem_files),
        chunks=for_job(inputs.chunks),
    output:
        points=files.points(),
        samples=files.samples(),
        builds=files.kernel_builds(),
    log:
        files.log("measure_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: for_job(resources.measuring_priority)
    conda:
        "../../envs/kernelsweep.yaml"
    # One, unless it compiles while it measures.
    threads: lambda wildcards: for_job(resources.measuring_threads, cores=CORES)(wildcards)
    resources:
        **at_the_device(resources.minutes_of_kernel),
        measuring=lambda wildcards: int(kind_of(wildcards.platform).needs_gpu),
        # How many references it computes at once, before it waits for the device.
        reference_processes=CORES or 1,
    params:
        kernel_code=for_job(parameters.kernel_code),
        # Not an output: Snakemake deletes those before a job starts, and the journal must survive.
        journal=files.journal(),
        number=for_job(parameters.next_try_of),
        axes=for_job(parameters.axes),
        restrictions=for_job(parameters.restrictions),
        tied=for_job(parameters.setting, key="tied"),
        search=for_job(parameters.setting, key="search"),
        racing=for_job(parameters.races_points),
        compared=for_job(parameters.searched_quantities),
        measuring=config["measuring"],
        kernel=for_job(parameters.kernel_settings),
        include=include_folders(Path.cwd()),
        store=files.unit_store(),
        target=for_job(Project.target),
        compiler=for_job(parameters.measuring_compiler),
        seed=config["seed"],
        code=code_of("measure/measure_kernel.py", *(f"kernelsweep/{name}" for name in MEASURING)),
    script:
        "../scripts/measure/measure_kernel.py"


# On the emulator, every access is watched: the sweep is the kernel's proof.
use rule measure_kernel as measure_on_emulator with:
    output:
        points=files.points(),
        samples=files.samples(),
        builds=files.kernel_builds(),
        proofs=files.kernel_proofs(),
    wildcard_constraints:
        platform=EMULATOR,


# A long kernel's sweep is cut into chunks. Each is a job, and leaves its points in the kernel's journals.
use rule measure_kernel as measure_chunk with:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        binary=for_job(inputs.measured_build, suffix="bin"),
        report=for_job(inputs.measured_build, suffix="json"),
        device=files.device(),
        problem=for_job(inputs.problem_files),
    output:
        temp(files.chunk()),
    log:
        files.log("measure_kernel", "{study}", "{kernel}", "{chunk}-of-{chunks}"),
    wildcard_constraints:
        platform=names.MEASURED,


rule collect:
    input:
        points=for_job(inputs.points),
        builds=for_job(inputs.builds),
        proofs=for_job(inputs.proofs),
    output:
        measurements=files.measurements(),
        builds=files.builds(),
    log:
        files.log("collect"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("measure/collect.py"),
    script:
        "../scripts/measure/collect.py"


rule describe_environment:
    input:
        measurements=files.measurements(),
        device=files.device(),
        reports=for_job(inputs.build_reports),
    output:
        files.environment(),
    log:
        files.log("describe_environment"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    # It names the processor of the GPU's host.
    resources:
        **at_the_device(resources.shortest_minutes),
    params:
        configuration=parameters.resolved_configuration(PROJECT),
        kernel_codes=for_job(parameters.codes_to_record),
        target=for_job(Project.target),
        code=code_of("measure/describe_environment.py"),
    script:
        "../scripts/measure/describe_environment.py"
