# Before and after: the platform's sweep compared with what `compare` in config.yaml names. Not part of `all`.


rule compare_sweeps:
    input:
        before=inputs.compared_with,
        after=inputs.compared,
        device=path("device"),
        # An edit can bring a race, so that the emulator's proofs belong to its verdict. They delay no sample.
        proofs=inputs.compared_proofs,
        # Before and after stand side by side.
        drawn=inputs.compared_accesses,
    output:
        rows=path("comparison", file="comparison.csv"),
        text=path("comparison", file="comparison.md"),
        comment=path("comparison", file="comment.md"),
        summary=path("comparison", file="comparison.json"),
        latex=path("comparison", file="comparison.tex"),
        page=path("comparison", file="comparison.html"),
        accesses=directory(path("comparison", file="accesses")),
        answer=path("answer", folder="{platform}/comparison"),
    log:
        log("compare_sweeps"),
    localrule: True
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        plan=plan.comparison,
    script:
        "../scripts/publish/compare_sweeps.py"
