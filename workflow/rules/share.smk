# Outputs to pass on to others: C++ headers.


# The fastest configurations of a study, as constants for programs that use its kernels.
rule export_constants:
    input:
        best=path("best", scope=scope_of("{platform}", "{study}"), suffix="json"),
    output:
        path("constants"),
    log:
        log("export_constants", "{study}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.reference,
    script:
        "../scripts/publish/export_constants.py"
