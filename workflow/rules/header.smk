# Measurements to a C++ header for other programs: each size's best configuration of the kernels that leave one value.

from kernelsweep.best.offered import TEMPLATE


# On a cluster, too, this runs where Snakemake does: it is little work.
localrules:
    export_header,


rule export_header:
    input:
        measurements=exported_measurements,
        device="results/{platform}/device.json",
        environment=lambda wildcards: (
            [f"results/{wildcards.platform}/environment.json"] if is_recording(wildcards.platform) else []
        ),
        studies=[f"config/studies/{study}.yaml" for study in EXPORTED],
        sources=lambda wildcards: exported_sources(),
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
