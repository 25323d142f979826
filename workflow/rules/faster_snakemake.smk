# What Snakemake 9 does without need, at every start or during a run, is left out.

import atexit
import gc
import os
import sys
import threading

# What Snakemake has imported stays until it ends. To look through it for garbage, again and again, takes a sixth of a
# start's time. What it makes then is mostly kept, too, and to parse the library's code makes much.
gc.freeze()
gc.set_threshold(100_000)
# Nor is it looked through once more before the process ends.
atexit.register(gc.freeze)


# The scheduler starts a timer at each look for jobs, and each timer leads to another look: after a hundred jobs it looks a
# hundred times a second, which takes a fifth of a core. Here one timer runs at a time. The limit of jobs a second
# (--max-jobs-per-timespan), for which the timers exist, still holds.
SCHEDULERS_WITH_A_TIMER = set()


def look_again(scheduler, seconds):
    """Have the scheduler look for jobs after this time, unless it already will."""

    def look():
        SCHEDULERS_WITH_A_TIMER.discard(scheduler)
        scheduler._open_jobs.release()

    if scheduler not in SCHEDULERS_WITH_A_TIMER:
        SCHEDULERS_WITH_A_TIMER.add(scheduler)
        timer = threading.Timer(seconds, look)
        timer.daemon = True  # Else the last one would hold up the end of the run.
        timer.start()


patch(
    "snakemake.scheduling.job_scheduler:JobScheduler",
    "_schedule_reevalutation",
    ["self", "delay"],
    lambda _: look_again,
    uses=["_open_jobs"],
)


# To compare the jobs' parameters with those of the last run, and to hand them to the first script, Snakemake imports
# pandas, a fifth of a start's time. None is a pandas.DataFrame unless pandas is there already.
def serialized(persistence, value):
    """A parameter's value as text."""
    if "pandas" in sys.modules:
        return persistence._serialize_param_pandas(value)
    return persistence._serialize_param_builtin(value)


patch(
    "snakemake.persistence:PersistenceBase",
    "_serialize_param",
    None,
    lambda _: serialized,
    uses=["_serialize_param_pandas", "_serialize_param_builtin"],
)


def stored(store):
    """Snakemake's way of keeping a script's parameters, and ours."""

    def store_params(script, params):
        if "pandas" in sys.modules or "polars" in sys.modules:
            return store(script, params)
        script._params_store, script._params_types = type(params)(toclone=list(params)), {}
        script._params_store._take_names(params._get_names())

    return store_params


patch(
    "snakemake.iocontainers:Snakemake",
    "_safely_store_params",
    ["self", "params"],
    stored,
    uses=["_safely_store_params"],
)


# Snakemake hashes a job's inputs once for each of its outputs, of which a study's drawings have thirty.
def once(checksum):
    """Snakemake's way of hashing a file, and ours."""
    known = {}

    async def checksum_of(file, *given, **named):
        try:
            found = os.stat(file.file)
        except OSError:
            return await checksum(file, *given, **named)
        key = file.file, found.st_ino, found.st_mtime_ns, found.st_size, given, *named.items()
        if key not in known:
            known[key] = await checksum(file, *given, **named)
        return known[key]

    return checksum_of


patch(
    "snakemake.io:_IOFile",
    "checksum",
    ["self", "threshold", "force", "algorithm"],
    once,
    uses=["file"],
)
