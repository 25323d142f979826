# Untrusted kernels, judged as further kernels of a study (docs/grading.md). Not part of `all`.

from kernelsweep.project.grading import exit_status
from kernelsweep.base.control_groups import PLACE, place_of_groups
from kernelsweep.base.sandbox import HIDDEN, VARIABLE, choose_sandbox

if PROJECT.grading:
    os.environ[VARIABLE] = for_users(choose_sandbox)(config["sandbox"] == "none")
    if not workflow.output_settings.dryrun and (groups := place_of_groups()):
        os.environ[PLACE] = str(groups)
    os.environ[HIDDEN] = config["candidate"]
    LAST_WORDS.status = lambda: exit_status(
        targets_of(workflow), Path(path("grade", platform=PROJECT.platforms[0], file="verdict.json"))
    )


rule grade_candidates:
    input:
        points=inputs(file="points").of_candidates,
        proofs=inputs(file="kernel_proofs").of_candidates,
    output:
        verdict=path("grade", file="verdict.json"),
        lines=path("grade", file="verdicts.jsonl"),
        page=path("grade", file="grade.html"),
        answer=path("answer", folder="{platform}/grade"),
    log:
        log("grade_candidates"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.grade,
    script:
        "../scripts/judge/grade_candidates.py"
