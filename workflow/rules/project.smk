# Code that the rules share: the project, and functions from a job's wildcards to its files and parameters.

import contextlib
import functools
import inspect
import os
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod

from kernelsweep.home import EMULATOR_HEADERS, include_folders, of_home
from kernelsweep.judge.comparison.which_files import PREVIOUS
from kernelsweep.locks import clear_locks_of_killed_run
from kernelsweep.platforms import names
from kernelsweep.platforms.kinds import kind_of
from kernelsweep.project import building, inputs, parameters, resources, targets
from kernelsweep.project.files import RESULTS, log, path, scope_of, with_scope
from kernelsweep.project.project import load_project


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
if workflow.is_main_process and (mistakes := PROJECT.mistakes):
    count = f"{len(mistakes)} of {len(mistakes) + len(PROJECT.studies)} studies"
    logger.error("\n".join(["", *mistakes.values(), f"Left out for these mistakes: {count}.", ""]), extra=OURS)

if workflow.is_main_process and not workflow.output_settings.dryrun and clear_locks_of_killed_run(Path(".snakemake")):
    logger.info("The last run here was killed. This one goes on where it stopped.", extra=OURS)


def renew_index():
    """Have the page of all pages say what this run found, whichever target it was."""
    if not workflow.is_main_process or workflow.dryrun:
        return
    # Here: a start has no use for what draws pages.
    from kernelsweep.publish.index import renew

    try:
        with contextlib.suppress(OSError):  # Someone else's results can't be written to.
            renew.renew_index(Path(RESULTS))
    except UserError as error:  # The run's own answer follows.
        logger.error(str(error), extra=OURS)


def earlier_answers():
    """The logs of the jobs that ended the last run of these targets."""
    asked = targets_of(workflow) or ["all"]
    if end := {"compare": "end_comparison", "grade": "end_grading"}.get(asked[0]):
        return [log(end).format(platform=platform) for platform in PROJECT.platforms]
    if asked == ["figure"]:
        folder, _, rest = targets.figure(PROJECT)[0].partition("/studies/")
        return [f"{folder}/logs/figure/{rest.replace('views/', 'end_').removesuffix('.pdf')}.log"]
    studies = [None] if asked == ["all"] else [name for name in asked if name in PROJECT.studies]
    return [log("end_run", scope=scope_of(platform, study)) for platform in PROJECT.platforms for study in studies]


LAST_WORDS.renew = renew_index
LAST_WORDS.earlier = earlier_answers
# https://no-color.org
if os.environ.get("NO_COLOR"):
    for handler in logger.handlers:
        handler.nocolor = True


def is_for_verdict():
    """Whether this run is for a verdict alone. It makes no more visits than decide; another target's makes the others."""
    return bool(PROJECT.grading) or targets_of(workflow) == ["compare"] and config["compare"]["before"] == PREVIOUS


# Skipped in dry runs: reading someone else's results is fine.
onstart:
    if os.path.isdir(RESULTS) and not os.access(RESULTS, os.W_OK | os.X_OK):
        raise WorkflowError(
            f"You can't write to {os.path.abspath(RESULTS)}. Make the folder writable, or move it away, and type "
            "the same command again: existing results are kept."
        )
    # What draws is there after the last point.
    if (targets_of(workflow) or ["all"])[0] in ("all", *PROJECT.studies):
        FORK_SERVER.prepare(["observe/prove_kernel"])  # the emulator among them
        DRAWING_SERVER.prepare(["publish/publish_study", "publish/make_page"])


# On this machine's GPUs, few jobs measure or wait for a GPU at once, so that the others prove and draw meanwhile.
if workflow.local_exec and (gpus := resources.gpu_count(PROJECT)):
    workflow.register_resource("measuring", resources.most_measuring(gpus, CORES or 1))


wildcard_constraints:
    platform=names.ANY,
    scope=rf"({names.ANY})(/studies/[^/]+)?",
    study=r"[^/]+",
    kernel=r"[^/]+",
    target=r"[^/]+",
    chunk=r"[1-9][0-9]*",
    chunks=r"[1-9][0-9]*",


def for_job(function, **fixed):
    """A function of wildcards: `function` of the project, `fixed`, and the wildcards that are among its parameters.

    Where the wildcards are a platform and maybe a study, it can ask for their scope, and the other way round.
    """
    signature = inspect.signature(function)

    # A start asks twice: whether a job is up to date (reruns.smk), and for its files and parameters.
    @functools.cache
    def answer(wildcards):
        known = with_scope(dict(wildcards)) | fixed
        chosen = {name: known[name] for name in signature.parameters if name in known}
        # By position: a cache would keep what is given by name once more.
        called = signature.bind(PROJECT, **chosen)
        return for_users(function)(*called.args, **called.kwargs)

    return lambda wildcards: answer(tuple(wildcards.items()))


def of_scope(name, **fixed):
    """A function of wildcards: the path of a kind of file (files.py) for a job's scope, platform and study."""
    return lambda wildcards: path(name, **with_scope(dict(wildcards.items())), **fixed)


# What jobs at a platform's device ask a cluster for.
RESOURCES = {"gpu"}.union(*(model.resources for model in PROJECT.config.gpu_models.values()))
AT_THE_DEVICE = {name: for_job(resources.resource, name=name) for name in sorted(RESOURCES)}


def by_code(function, **fixed):
    """Files of the user's code as inputs. Their times are no reason to run the job: their code is (reruns.smk)."""
    sources = for_job(function, **fixed)

    def answer(wildcards):
        found = sources(wildcards)
        return ancient(found) if isinstance(found, str) else [ancient(file) for file in found]

    return answer
