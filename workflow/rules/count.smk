# Each kernel's accesses to memory, counted on the emulator: one job a kernel.


use rule prove_kernel as count_kernel with:
    output:
        path("counts", platform=EMULATOR),
    log:
        log("count_kernel", "{study}", "{kernel}", scope=EMULATOR),
    params:
        is_candidate=False,
        points=parameters.counted_points,
        journal=path("count_journal"),
        number=lambda wildcards: next_try(Path(of_scope("count_journal")(wildcards))),
