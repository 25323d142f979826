# Measurements to a C++ header for other programs: each size's best configuration of the kernels that leave one value.

from kernelsweep.best.offered import TEMPLATE, is_offered

# The studies that have such kernels, whether `all` runs them or not.
EXPORTED = [study for study in STUDIES if any(map(is_offered, STUDIES[study].kernels.values()))]


def headers():
    """The headers of the platforms that have times."""
    timed = [platform for platform in PLATFORMS if platform != EMULATOR]
    if not timed:
        raise WorkflowError("The target header needs times, which the emulator has none of: name another platform.")
    return [f"results/{platform}/best/reduce.cuh" for platform in timed]


def exported_measurements(wildcards):
    """The rows to choose from: a recording's, or those of the studies' kernels, which are measured first."""
    if is_recording(wildcards.platform):
        return [f"results/{wildcards.platform}/measurements.csv"]
    return kernel_parts("points", wildcards.platform, EXPORTED)


def exported_sources():
    """The files of the studies' kernels, and what these include."""
    kernels = [kernel.path for study in EXPORTED for kernel in STUDIES[study].kernels.values()]
    files = {file for path in kernels for file in (path, *included_files(path, ROOT / "kernels/include"))}
    return sorted(str(path.relative_to(ROOT)) for path in files)


rule export_header:
    input:
        measurements=exported_measurements,
        device="results/{platform}/device.json",
        environment=lambda wildcards: (
            [f"results/{wildcards.platform}/environment.json"] if is_recording(wildcards.platform) else []
        ),
        studies=[f"config/studies/{study}.yaml" for study in EXPORTED],
        sources=exported_sources(),
        template=str(TEMPLATE.relative_to(ROOT)),
        licence="LICENSE",
    output:
        "results/{platform}/best/reduce.cuh",
    log:
        "results/{platform}/logs/export_header.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=EXPORTED,
        code=code_of("export_header.py"),
    script:
        "../scripts/export_header.py"
