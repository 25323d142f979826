# Measurements to verdicts: which claims of the literature hold here, and which configurations are the best.
#
# A scope is a platform's results for all studies, or for one: "emulator", or "emulator/studies/unrolling".

from kernelsweep.judge.claims.claim import CLAIMS_FILE, SOURCES_FILE


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    judge_claims,
    find_best,


rule judge_claims:
    input:
        measurements=for_job(inputs.measurements),
        device=for_job(inputs.device),
        proofs=for_job(inputs.proofs),
        metrics=for_job(inputs.made_metrics),
        claims=[*filter(os.path.isfile, [CLAIMS_FILE])],
        sources=[*filter(os.path.isfile, [SOURCES_FILE])],
    output:
        md=files.claims("md"),
        csv=files.claims("csv"),
    log:
        files.log("judge_claims", scope="{scope}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=for_job(parameters.judged_settings),
        measurements=for_job(inputs.measurements_by_study),
        uncertainties=parameters.uncertainties(PROJECT),
        found_metrics=for_job(inputs.found_metrics),
        code=code_of("judge/judge_claims.py"),
    script:
        "../scripts/judge/judge_claims.py"


rule find_best:
    input:
        measurements=for_job(inputs.measurements),
        device=for_job(inputs.device),
        proofs=for_job(inputs.proofs),
    output:
        md=files.best("md"),
        json=files.best("json"),
    log:
        files.log("find_best", scope="{scope}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=for_job(parameters.compared_settings),
        measurements=for_job(inputs.measurements_by_study),
        gridded=for_job(parameters.kernels_with_a_grid),
        code=code_of("judge/find_best.py"),
    script:
        "../scripts/judge/find_best.py"
