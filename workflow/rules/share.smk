# Outputs to pass on to others: C++ headers, and the T4 format.


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    export_constants,
    export_t4,


# The fastest configurations of a study, as constants for programs that use its kernels.
rule export_constants:
    input:
        best=path("best", scope=scope_of("{platform}", "{study}"), suffix="json"),
    output:
        path("constants"),
    log:
        log("export_constants", "{study}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        reference=for_job(parameters.setting, key="reference"),
        code=code_of("share/export_constants.py"),
    script:
        "../scripts/share/export_constants.py"


# A study's measurements for other tuners: a file a kernel, problem size and cache state.
rule export_t4:
    input:
        measurements=for_job(inputs.measurements),
        device=path("device"),
    output:
        directory(path("t4")),
    log:
        log("export_t4", "{study}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        settings=lambda wildcards: {
            "kinds": PROJECT.studies[wildcards.study].settings.kinds,
            "kernels": list(PROJECT.studies[wildcards.study].kernels),
        },
        code=code_of("share/export_t4.py"),
    script:
        "../scripts/share/export_t4.py"
