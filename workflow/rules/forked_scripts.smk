# Scripts run in forks of one process that has imported what they import (kernelsweep/fork_server.py): Snakemake would
# start Python for each job, and a hundred starts take as long as all the rest of a run's drawing and judging.

import os
import subprocess
import sys
import tempfile

from snakemake.script import PythonScript

from kernelsweep.fork_server import ForkServer

FORK_SERVER = ForkServer()
EXECUTE_SCRIPT = PythonScript.execute_script


def execute_in_fork(script, file, edit=False):
    """Run a job's script; as Snakemake would where the job has an environment of its own, or is alone on a node."""
    elsewhere = script.conda_env or script.container_img or script.env_modules or script.shadow_dir
    if elsewhere or edit or script.bench_record is not None or not workflow.is_main_process:
        return EXECUTE_SCRIPT(script, file, edit)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(script.threads))
    environment = {**os.environ, **threads}
    # Compilers that are killed leave files.
    with tempfile.TemporaryDirectory(dir=script.resources.get("tmpdir"), ignore_cleanup_errors=True) as folder:
        status = FORK_SERVER.run(file, script.rulename, {**environment, "TMPDIR": folder})
    if status:
        raise subprocess.CalledProcessError(status, [sys.executable, file])


PythonScript.execute_script = execute_in_fork
