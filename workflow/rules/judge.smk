# Measurements to verdicts: which claims of the literature hold here, which configurations are the best, and a summary.
#
# A scope is a platform's results for all studies, or for one: "emulator", or "emulator/studies/unrolling".

from kernelsweep.judge.claims.claim import CLAIMS_FILE, SOURCES_FILE

# A study's settings that judgements depend on.
JUDGED = ("title", "kinds", "kernels", "reference", "steps", "rivals", "limits", "claims", "causes", "search")


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    judge,


rule judge:
    input:
        measurements=inputs.measurements,
        device=of_scope("device"),
        proofs=inputs.proofs,
        metrics=inputs.made_metrics,
        claims=[*filter(os.path.isfile, [CLAIMS_FILE])],
        sources=[*filter(os.path.isfile, [SOURCES_FILE])],
    output:
        claims=path("claims", suffix="md"),
        claims_csv=path("claims", suffix="csv"),
        best=path("best", suffix="md"),
        best_json=path("best", suffix="json"),
        summary=path("summary"),
        status=path("status"),
        answer=path("answer", folder="{scope}"),
    log:
        log("judge", scope="{scope}"),
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        studies=parameters(keys=JUDGED).settings_by_study,
        measurements=inputs.measurements_by_study,
        gridded=parameters.gridded_by_study,
        # By metric, how far its value may lie from run to run, as a fraction; 0 for counts.
        uncertainties={name: float(entry["uncertainty"]) for name, entry in config["metrics"].items()},
        found_metrics=inputs.found_metrics,
        plan=parameters.planned_kernels,
        edited=parameters.edited_kernels,
        page=of_scope("page"),
    script:
        "../scripts/judge/judge.py"
