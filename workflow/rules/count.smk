# Each kernel's accesses to memory, counted on the emulator: one job a kernel.


use rule prove_kernel as count_kernel with:
    output:
        path("counts", platform=EMULATOR),
    log:
        log("count_kernel", "{study}", "{kernel}", scope=EMULATOR),
    params:
        plan=plan.count,
