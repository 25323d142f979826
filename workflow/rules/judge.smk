# Measurements to verdicts: which claims of the literature hold here, which configurations are the best, and a summary.
#
# A scope is a platform's results for all studies, or for one: "emulator", or "emulator/studies/unrolling".

from kernelsweep.judge.claims.claim import CLAIMS_FILE, SOURCES_FILE


rule judge:
    input:
        measurements=inputs.measurements,
        device=inputs.device,
        proofs=inputs.proofs,
        metrics=inputs.made_metrics,
        claims=[*filter(os.path.isfile, [CLAIMS_FILE])],
        sources=[*filter(os.path.isfile, [SOURCES_FILE])],
    output:
        claims=path("claims", suffix="md"),
        claims_csv=path("claims", suffix="csv"),
        claims_figure=directory(path("claims_figure")),
        best=path("best", suffix="md"),
        best_json=path("best", suffix="json"),
        summary=path("summary"),
        status=path("status"),
        answer=path("answer", folder="{scope}"),
    log:
        log("judge", scope="{scope}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.scope,
    script:
        "../scripts/judge/judge.py"
