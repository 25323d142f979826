# Scripts run in forks of one process that has imported what they import (kernelsweep/base/fork_server.py): Snakemake would
# start Python for each job, and a hundred starts take as long as all the rest of a run's drawing and judging.
#
# This replaces one method of Snakemake's, the only one of its inside that is changed, and only where it has the form that
# is expected. docs/snakemake.md says what was measured, and why no plugin does it.

import subprocess
import tempfile

from snakemake.script import PythonScript

from kernelsweep.base.fork_server import ForkServer
from kernelsweep.base.logs import end_log
from kernelsweep.sweep.candidate_job import went_on_without
from kernelsweep.base.running import FOLDER_OF_NOTES, FOLDER_OF_WORKERS, THREAD_VARIABLES, running_in

# What draws has a server of its own: its imports take seconds, in which a server can't start what measures.
FORK_SERVER, DRAWING_SERVER = ForkServer(), ForkServer()
DRAWING_STAGES = ("publish", "judge")
# Where the processes that measure wait for the next job.
WORKERS = tempfile.TemporaryDirectory()


def server_of(script):
    """The server that runs a script."""
    return DRAWING_SERVER if script.parent.name in DRAWING_STAGES or script.name.startswith("draw_") else FORK_SERVER


@functools.cache
def prepare(script):
    """Import what a script imports, which takes up to a second, while its jobs are planned and wait."""
    if workflow.is_main_process and not workflow.output_settings.dryrun:
        # The emulator is no import of a job that measures on any platform.
        emulated = [script.parents[1] / "observe/prove_kernel.py"] * (script.stem == "measure_kernel")
        server_of(script).prepare([script, *emulated])


if "compare" in sys.argv:  # An edit's verdict is waited for.
    for name in ("sweep/measure_kernel", "publish/compare_sweeps"):
        prepare(ROOT / f"workflow/scripts/{name}.py")


def execute_in_fork(script, file, edit=False):
    """Run a job's script; as Snakemake would where the job has an environment of its own, or is alone on a node."""
    elsewhere = script.conda_env or script.container_img or script.env_modules or script.shadow_dir
    if elsewhere or edit or script.bench_record is not None or not workflow.is_main_process:
        return execute_script(script, file, edit)
    threads = dict.fromkeys(THREAD_VARIABLES, str(script.threads))
    environment = {**os.environ, **threads}
    # Compilers that are killed leave files.
    with tempfile.TemporaryDirectory(dir=script.resources.get("tmpdir"), ignore_cleanup_errors=True) as folder:
        environment |= {"TMPDIR": folder, FOLDER_OF_NOTES: folder, FOLDER_OF_WORKERS: WORKERS.name}
        status = server_of(Path(str(script.path))).run(file, script.rulename, environment, SlowCalls(folder).tell)
        if status < 0 and script.log and not LAST_WORDS.stopped:
            end_log(script.log[0], script.rulename, status, folder)
    if status and not went_on_without(script, status):
        raise subprocess.CalledProcessError(status, [sys.executable, file])


class SlowCalls:
    """Tells of functions of the user's that run long in a job, each time after twice as long."""

    def __init__(self, notes):
        self.notes = notes
        self.next_notice = {}

    def tell(self):
        for what, seconds in running_in(self.notes):
            if seconds > self.next_notice.get(what, 30):
                self.next_notice[what] = 2 * seconds
                logger.info(f"{what} has run for {seconds:.0f} s", extra=OURS)


# What a script has by Snakemake's __init__, and execute_in_fork() reads.
READ = "conda_env container_img env_modules shadow_dir bench_record threads resources rulename path log params output wildcards".split()
execute_script = getattr(PythonScript, "execute_script", None)
if (
    os.environ.get("KERNELSWEEP_FORKS") != "none"
    and callable(execute_script)
    and list(inspect.signature(execute_script).parameters) == ["self", "fname", "edit"]
    and {*READ} <= {*inspect.signature(PythonScript).parameters, *PythonScript.__init__.__code__.co_names}
):
    PythonScript.execute_script = execute_in_fork
else:
    logger.debug(
        "Each job's script starts a Python of its own: Snakemake's PythonScript has another form than expected."
    )
