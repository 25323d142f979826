# Which jobs run again: those whose outputs were made from something else, whatever Snakemake remembers and whatever the
# times of files are (kernelsweep/base/made_from.py). Included last: all rules with a script get what that needs.

import time

from snakemake.io import apply_wildcards, is_callable

from kernelsweep.base import made_from
from kernelsweep.base.code_hash import code_hash, imported_modules
from kernelsweep.base.plain_files import write_texts
from kernelsweep.device.measuring_code import MEASURING
from kernelsweep.project.files import made_from_file

# An input of each job: `ancient` if the job's outputs are current, else newer than they. Snakemake remembers what was in so
# small a file, so each start has another text.
OUT_OF_DATE = ".snakemake/kernelsweep.out_of_date"
if workflow.is_main_process:
    for_users(write_texts)({Path(OUT_OF_DATE): f"{time.time_ns()}\n"})

SCRIPTS, LIBRARY = ROOT / "workflow/scripts", ROOT / "workflow/scripts/kernelsweep"

# What scripts run in other processes and don't import.
NOT_IMPORTED = {
    "measure_kernel.py": MEASURING,
    "measure_library.py": (*MEASURING, "sweep/baselines/library_platform.py"),
    "prove_kernel.py": MEASURING,
}


def out_of_date(rule, script):
    """The input of a rule's jobs that runs a job again whose outputs were made from something else."""
    items = [*rule.input]

    @for_users
    def mark(wildcards):
        if not workflow.is_main_process:  # A job that was sent to another machine runs in any case.
            return ancient(OUT_OF_DATE)
        inputs = type(rule.input)(toclone=[file for item in items for file in files_of(rule, item, wildcards)])
        outputs, _ = rule.expand_output(wildcards)
        existing = [*filter(os.path.exists, outputs)]
        if not existing and workflow.local_exec:
            prepare(script)
            return ancient(OUT_OF_DATE)
        params, _ = rule.expand_params(wildcards, inputs, outputs, None)
        file, sources = made_from_file(outputs[0]), made_from.sources_of(params, inputs)
        if not workflow.local_exec and not workflow.dryrun:
            made_from.plan(file, params)
        if not (reason := made_from.reason_to_run(file, sources, existing)):
            return ancient(OUT_OF_DATE)
        if existing:
            LAST_WORDS.explain(rule.name, dict(wildcards.items()), reason)
        if any(os.path.getmtime(output) >= os.path.getmtime(OUT_OF_DATE) for output in existing):
            raise UserError(
                f"{existing[0]} is out of date, and dated in the future, so that Snakemake would keep it. Type: find "
                f"{RESULTS}/ -newer {OUT_OF_DATE} -exec touch {{}} +"
            )
        prepare(script)
        return OUT_OF_DATE

    return mark


def files_of(rule, item, wildcards):
    """The files of one entry of a rule's input."""
    found = rule.apply_input_function(item, wildcards)[0] if is_callable(item) else apply_wildcards(item, wildcards)
    return [found] if isinstance(found, str) else found


def made_from_of(wildcards, output):
    """What a job needs to note what it was made from; as planned where another machine runs it."""
    file = made_from_file(output[0])
    return {"file": file, "planned": {} if workflow.is_main_process else made_from.planned(file)}


@for_users
@functools.cache
def code_of(script):
    """A hash of a script and of the library code that it imports: Snakemake itself sees an edit of the script only."""
    named = [script, *(LIBRARY / name for name in NOT_IMPORTED.get(script.name, ()))]
    imported = {path for file in named for path in imported_modules(file)}
    return code_hash([*named, *sorted(imported)])


for written in workflow.rules:
    source = Path(os.path.normpath(os.path.join(written.basedir, written.script or "")))
    # Another repository's own rules are its affair. Where it uses rules one by one, this is read several times.
    if source.suffix == ".py" and source.is_relative_to(SCRIPTS) and made_from.INPUT not in written.input.keys():
        # A function, so that no start waits for the code of rules without jobs.
        written.set_params(
            code_of_kernelsweep=lambda wildcards, source=source: code_of(source),
            **{made_from.PARAMETER: made_from_of},
        )
        written.set_input(**{made_from.INPUT: out_of_date(written, source)})
