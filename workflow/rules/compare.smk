# Before and after: two sweeps compared, as `compare` in config.yaml names them. Not part of `all`.

from kernelsweep.judge.comparison.which_files import NOW, folder_of
from kernelsweep.publish.html_files import COMPARISON_FILES

# An edit can bring a race, so that the emulator's proofs belong to its verdict. They delay no sample. A folder of results
# brings its own description of the device.
is_measured_now = config["compare"]["after"] == NOW


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    compare_sweeps,
    end_comparison,


rule compare_sweeps:
    input:
        before=for_job(inputs.compared, side="before"),
        after=for_job(inputs.compared, side="after"),
        device=path("device") if is_measured_now else [],
        proofs=for_job(inputs.proofs_beside_samples) if is_measured_now else [],
        sources=[of_home(file, Path.cwd()) for file in COMPARISON_FILES],
    output:
        rows=path("comparison", file="comparison.csv"),
        text=path("comparison", file="comparison.md"),
        comment=path("comparison", file="comment.md"),
        summary=path("comparison", file="comparison.json"),
        page=path("comparison", file="comparison.html"),
    log:
        log("compare_sweeps"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        compare=config["compare"],
        # The folder with the journals, which hold earlier measurements.
        results=lambda wildcards: (
            path("folder", scope=wildcards.platform) if is_measured_now else str(folder_of(config["compare"]["after"]))
        ),
        studies={study: list(PROJECT.studies[study].problem.size_axes) for study in config["studies"]},
        measuring=config["measuring"],
        seed=config["seed"],
        store=path("unit_store"),
        explored=for_job(parameters.explored_studies),
        code=code_of("publish/compare_sweeps.py"),
    script:
        "../scripts/publish/compare_sweeps.py"


# Ends the comparison: shows its findings, and fails if a result went wrong or a proof failed, or as `fail_on` says.
rule end_comparison:
    input:
        text=path("comparison", file="comparison.md"),
        page=path("comparison", file="comparison.html"),
        summary=path("comparison", file="comparison.json"),
    output:
        touch(path("comparison", file=".verdict")),
    log:
        log("end_comparison"),
    # Retrying cannot change the verdict.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        fail_on=config["compare"]["fail_on"],
        code=code_of("judge/end_comparison.py"),
    script:
        "../scripts/judge/end_comparison.py"
