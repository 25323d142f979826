# Kernels to proofs: what the emulator's sweep proves (measure.smk) is proven beside a GPU, too, on its host's cores.


# On a cluster, too, this little work runs where Snakemake does.
localrules:
    prove_under_sanitizer,
    collect_proofs,
    end_proofs,


# Less urgent than anything that the GPU waits for.
rule prove_kernel:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        binary=files.build("bin", EMULATOR),
        report=files.build("json", EMULATOR),
        problem=for_job(inputs.problem_files),
    output:
        files.kernel_proofs(),
    log:
        files.log("prove_kernel", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.TIMED,
    priority: -1
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        kernel_code=for_job(parameters.kernel_code),
        # Not an output: Snakemake deletes those before a job starts, and the journal must survive.
        journal=files.proof_journal(),
        number=for_job(parameters.next_proof),
        axes=for_job(parameters.proven_axes),
        restrictions=for_job(parameters.restrictions),
        has_own_axes=for_job(parameters.has_axes_for_emulator),
        tied=for_job(parameters.setting, key="tied"),
        search=for_job(parameters.setting, key="search"),
        measuring=config["measuring"],
        kernel=for_job(parameters.kernel_settings),
        include=include_folders(Path.cwd()),
        seed=config["seed"],
        code=code_of("observe/prove_kernel.py", *(f"kernelsweep/{name}" for name in MEASURING)),
    script:
        "../scripts/observe/prove_kernel.py"


rule prove_under_sanitizer:
    input:
        kernel=by_code(inputs.kernel_file),
        included=by_code(inputs.included),
        results=for_job(inputs.kernel_findings),
    output:
        files.sanitized_proofs(),
    log:
        files.log("prove_under_sanitizer", "{study}", "{kernel}"),
    wildcard_constraints:
        platform=names.TIMED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        kernel_code=for_job(parameters.kernel_code),
        include=include_folders(Path.cwd()),
        code=code_of("observe/prove_under_sanitizer.py"),
    script:
        "../scripts/observe/prove_under_sanitizer.py"


rule collect_proofs:
    input:
        for_job(inputs.proofs),
    output:
        files.proofs(),
    log:
        files.log("collect_proofs"),
    wildcard_constraints:
        platform=names.MEASURED,
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/collect_proofs.py"),
    script:
        "../scripts/observe/collect_proofs.py"


# Ends a run of the target `prove`: fails if a proof found something unexpected.
rule end_proofs:
    input:
        proofs=files.proofs(),
    output:
        touch(files.proofs_end()),
    log:
        files.log("end_proofs"),
    wildcard_constraints:
        platform=names.MEASURED,
    # Retrying cannot change the verdict.
    retries: 0
    conda:
        "../../envs/kernelsweep.yaml"
    params:
        code=code_of("observe/end_proofs.py"),
    script:
        "../scripts/observe/end_proofs.py"
