# All results of a platform in one file, and how they are drawn again from it.

from kernelsweep.archive import content_hash, project_files


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    archive_results,


rule archive_results:
    input:
        verdict=lambda wildcards: verdict(wildcards.platform),
        environment="results/{platform}/environment.json",
    output:
        "results/archive/{platform}.tar.gz",
    log:
        "results/{platform}/logs/archive_results.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        configuration=config,
        project=lambda wildcards: content_hash(ROOT, project_files(ROOT, wildcards.platform)),
        code=code_of("archive_results.py"),
    script:
        "../scripts/archive_results.py"


# Tables, figures and judgements of every platform that has measurements: what an archive's own README has its reader
# type. There no other rule is allowed, so that nothing is measured.
rule redraw:
    input:
        lambda wildcards: [
            path
            for folder in sorted([*Path("results").glob("*/"), *Path("results/recording").glob("*/")])
            if (folder / "measurements.csv").is_file()
            for path in published_files(folder.relative_to("results").as_posix(), config["studies"])
            + judgements(folder.as_posix())
        ],
