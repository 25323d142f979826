# Measurements to verdicts: which claims of the literature hold here, and which configurations are the best.


# On a cluster, too, these run where Snakemake does: they are little work.
localrules:
    judge_claims,
    judge_claims_of_study,
    find_best,
    find_best_of_study,


rule judge_claims:
    input:
        measurements=all_measurements,
        device="results/{platform}/device.json",
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, config["studies"]),
        claims="resources/published/claims.csv",
    output:
        md=report(
            "results/{platform}/claims.md",
            category="All studies",
            subcategory="{platform}",
            labels={"result": "claims"},
            caption="../report/claims.rst",
        ),
        csv="results/{platform}/claims.csv",
    log:
        "results/{platform}/logs/judge_claims.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=judged_settings(config["studies"]),
        measurements=lambda wildcards: files_by_study(wildcards.platform, config["studies"]),
        uncertainties=uncertainties(config),
        metrics_there=lambda wildcards: metrics_there(wildcards.platform, config["studies"]),
        code=code_of("judge/judge_claims.py"),
    script:
        "../scripts/judge/judge_claims.py"


use rule judge_claims as judge_claims_of_study with:
    input:
        measurements=study_measurements,
        device="results/{platform}/device.json",
        metrics=lambda wildcards: metrics_to_come(wildcards.platform, [wildcards.study]),
        claims="resources/published/claims.csv",
    output:
        md="results/{platform}/studies/{study}/claims.md",
        csv="results/{platform}/studies/{study}/claims.csv",
    log:
        "results/{platform}/logs/judge_claims/{study}.log",
    params:
        studies=lambda wildcards: judged_settings([wildcards.study]),
        measurements=lambda wildcards: files_by_study(wildcards.platform, [wildcards.study]),
        uncertainties=uncertainties(config),
        metrics_there=lambda wildcards: metrics_there(wildcards.platform, [wildcards.study]),
        code=code_of("judge/judge_claims.py"),


rule find_best:
    input:
        measurements=all_measurements,
        device="results/{platform}/device.json",
    output:
        md=report(
            "results/{platform}/best.md",
            category="All studies",
            subcategory="{platform}",
            labels={"result": "best configurations"},
            caption="../report/best.rst",
        ),
        json="results/{platform}/best.json",
    log:
        "results/{platform}/logs/find_best.log",
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=raced_settings(config["studies"]),
        measurements=lambda wildcards: files_by_study(wildcards.platform, config["studies"]),
        gridded=gridded_kernels(config["studies"]),
        code=code_of("judge/find_best.py"),
    script:
        "../scripts/judge/find_best.py"


use rule find_best as find_best_of_study with:
    input:
        measurements=study_measurements,
        device="results/{platform}/device.json",
    output:
        md="results/{platform}/studies/{study}/best.md",
        json="results/{platform}/studies/{study}/best.json",
    log:
        "results/{platform}/logs/find_best/{study}.log",
    params:
        studies=lambda wildcards: raced_settings([wildcards.study]),
        measurements=lambda wildcards: files_by_study(wildcards.platform, [wildcards.study]),
        gridded=lambda wildcards: gridded_kernels([wildcards.study]),
        code=code_of("judge/find_best.py"),
