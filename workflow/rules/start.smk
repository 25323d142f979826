# What a start does before any job: it reads the project, tells what is wrong with it, and prepares the run's last words.

from importlib.util import cache_from_source

from snakemake.exceptions import WorkflowError
from snakemake.settings.types import DeploymentMethod

from kernelsweep.base.code_hash import is_of_library
from kernelsweep.base.locks import clear_locks_of_killed_run, hold_results
from kernelsweep.project.files import RESULTS
from kernelsweep.project.project import load_project
from kernelsweep.project.resources import gpu_count, most_measuring
from kernelsweep.project.targets import ends, figure, help_text


def jobs_bring_pycuda():
    """Whether jobs run in the environments of envs/ (--sdm conda), which have PyCUDA whether this one does or not."""
    settings = workflow.deployment_settings
    return settings is not None and DeploymentMethod.CONDA in settings.deployment_method


# Snakemake's cores; None where it knows none, as on a cluster. workflow.cores would end the run there.
CORES = workflow.resource_settings.cores

# Snakemake would put it before every path, the sources' among them.
if getattr(workflow.modifier.path_modifier, "prefix", None):
    refuse("kernelsweep can't run as a module with `prefix:`. Results are in results/ of the folder that runs it.")

PROJECT = for_users(load_project)(config, Path.cwd(), jobs_bring_pycuda())
config.update(PROJECT.config.values())

if workflow.is_main_process and not workflow.output_settings.dryrun:
    for_users(hold_results)(Path(RESULTS))
    if clear_locks_of_killed_run(Path(".snakemake")):
        logger.info("The last run here was killed. This one goes on where it stopped.", extra=OURS)


def renew_index():
    """Have the page of all pages say what this run found, whichever target it was."""
    if not workflow.is_main_process or workflow.dryrun:
        return
    # Here: a start has no use for what draws pages.
    from kernelsweep.publish.index import renew

    try:
        with contextlib.suppress(OSError):  # Someone else's results can't be written to.
            renew.renew_index(Path(RESULTS), {name: PROJECT.mistakes[name] for name in PROJECT.left_out})
    except UserError as error:  # The run's own answer follows.
        logger.error(str(error), extra=OURS)


def earlier_answers():
    """The logs of the jobs that ended the last run of these targets."""
    asked = targets_of(workflow) or ["all"]
    if asked == ["figure"]:
        folder, _, file = figure(PROJECT)[0].partition("/studies/")
        return [f"{folder}/logs/figure/{Path(file).parts[0]}/end_{Path(file).stem}.log"]
    return [log("end_run", scope=folder) for folder in ends(PROJECT, asked)]


LAST_WORDS.renew = renew_index
LAST_WORDS.earlier = earlier_answers
LAST_WORDS.help = lambda: help_text(PROJECT)
# https://no-color.org
if os.environ.get("NO_COLOR"):
    for handler in logger.handlers:
        handler.nocolor = True


def keep_bytecode():
    """Have the bytecode of what each start imports written, which PYTHONDONTWRITEBYTECODE prevents in many containers.

    uv writes none: it would compile all files of all packages, of which a run imports a quarter. Where the packages
    can't be written, none is.
    """
    files = [getattr(module, "__file__", None) or "" for module in [*sys.modules.values()]]
    sources = [file for file in files if file.endswith(".py") and is_of_library(Path(file))]
    missing = [file for file in sources if not os.path.exists(cache_from_source(file))]
    if missing := [file for file in missing if os.access(os.path.dirname(file), os.W_OK)]:
        compiling = subprocess.Popen([sys.executable, "-m", "compileall", "-qq", "-i", "-"], stdin=subprocess.PIPE)
        with compiling.stdin as names:  # Nobody waits for it.
            names.write("\n".join(missing).encode())


# Skipped in dry runs: reading someone else's results is fine.
onstart:
    if os.path.isdir(RESULTS) and not os.access(RESULTS, os.W_OK | os.X_OK):
        raise WorkflowError(
            f"You can't write to {os.path.abspath(RESULTS)}. Make the folder writable, or move it away, and type "
            "the same command again: existing results are kept."
        )
    if sys.dont_write_bytecode:
        keep_bytecode()
    # Snakemake starts at most 100 jobs per second. To do so, each look for jobs orders one more look, a second later: after
    # 80 jobs, 80 looks per second. The limit is meant for clusters.
    if workflow.local_exec and hasattr(workflow.scheduler, "job_rate_limiter"):
        workflow.scheduler.job_rate_limiter = None


LAST_WORDS.has = {"cores": CORES} if CORES else {}

# On this machine's GPUs, few jobs measure or wait for a GPU at once, so that the others prove and draw meanwhile.
if workflow.local_exec and (gpus := gpu_count(PROJECT)):
    LAST_WORDS.has["measuring"] = most_measuring(gpus, CORES or 1)
    workflow.register_resource("measuring", LAST_WORDS.has["measuring"])
