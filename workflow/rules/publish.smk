# Measurements to what readers see: tables, figures, a summary, and one page with all of it.

from kernelsweep.project.files import OF_TARGETS
from kernelsweep.project.inputs import PUBLISHED_FILES


# One job makes all of a study's tables and figures, from data that it reads once. The kernels' words are none of them.
rule publish_study:
    input:
        measurements=inputs.measurements,
        device=path("device"),
        proofs=inputs.proofs,
        published=inputs.published_numbers,
        metrics=inputs.made_metrics,
    output:
        PUBLISHED_FILES[:-1],
        path("story"),
        figures=directory(PUBLISHED_FILES[-1]),
    log:
        log("publish_study", "{study}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    # At the end of a run only the last study's figures are left to draw. On two cores, a job measures meanwhile.
    threads: max(1, min(4, (CORES or 1) // 2))
    params:
        plan=plan.study,
    script:
        "../scripts/publish/publish_study.py"


rule write_steps:
    input:
        story=path("story"),
        kernels=code.kernel_files,
        accesses=inputs.accesses,
    output:
        path("steps"),
    log:
        log("write_steps", "{study}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.story,
    script:
        "../scripts/publish/write_steps.py"


# A view of the page's explorer, as config.yaml's view names it.
rule end_figure:
    input:
        measurements=inputs.measurements,
        device=path("device"),
        proofs=inputs.proofs,
    output:
        [path("view", suffix=suffix) for suffix in ("pdf", "tex", "csv")],
    log:
        log("figure", "{study}", "end_{name}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.view,
    script:
        "../scripts/publish/draw_view.py"


# A picture of accesses, which config.yaml's view names.
rule end_picture:
    input:
        accesses=path("accesses"),
    output:
        [path("picture", suffix=suffix) for suffix in ("pdf", "tex")],
    log:
        log("figure", "{study}", "end_{name}", scope=EMULATOR),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.font,
    script:
        "../scripts/publish/draw_picture.py"


rule make_page:
    input:
        summary=path("summary"),
        status=path("status"),
        claims=[path("claims", suffix=suffix) for suffix in ("md", "csv")],
        claims_figure=path("claims_figure"),
        best=[path("best", suffix=suffix) for suffix in ("md", "json")],
        measurements=inputs.joined_measurements,
        device=inputs.device,
        environment=inputs.environment,
        published=inputs.tables_and_figures,
        accesses=inputs.accesses,
        glossary=of_home(ROOT / "docs/glossary.md", Path.cwd()),
    output:
        path("page"),
    log:
        log("make_page", scope="{scope}"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.page,
    script:
        "../scripts/publish/make_page.py"


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


# Ends a run: shows its answer, and fails if a result was wrong. It follows everything else, so that a wrong kernel costs no
# other kernel its results.
rule end:
    input:
        answer=path("answer"),
        results=inputs.before_end,
    output:
        touch(path("end")),
    log:
        log("end_run", scope="{folder}"),
    wildcard_constraints:
        folder=rf"({names.ANY})(/studies/[^/]+|/({'|'.join(OF_TARGETS)}))?",
    # Retrying cannot change the verdict.
    retries: 0
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    script:
        "../scripts/judge/end.py"
