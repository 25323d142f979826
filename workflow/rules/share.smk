# Outputs to pass on to others: an archive of a platform's results, C++ headers, and the T4 format.

from kernelsweep.share.archive import content_hash, project_files


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    archive_results,
    export_constants,
    export_t4,


# All of a platform's results in one file.
rule archive_results:
    input:
        end=path("end", scope="{platform}"),
        environment=path("environment"),
    output:
        path("archive"),
    log:
        log("archive_results"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        configuration=config,
        project=lambda wildcards: content_hash(Path.cwd(), project_files(Path.cwd(), wildcards.platform)),
        code=code_of("share/archive_results.py"),
    script:
        "../scripts/share/archive_results.py"


# Tables, figures and judgements of every platform with measurements. An archive's README tells its reader to type this;
# there no other rule is allowed, so nothing is measured.
rule redraw:
    input:
        for_job(targets.redraw),


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
