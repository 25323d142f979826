# When a run ends before its last job: by a failed job, or by the user.
#
# Ctrl-C, SIGTERM, a closed terminal and a closed pipe end a run with one sentence, at once and with all of its processes.
# Snakemake's own way ends in stacks where Ctrl-C comes twice, as `uv run` sends it, and on SIGTERM it waits for the jobs,
# or forever.

import logging
import signal
import threading

import psutil

STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# As nohup has it.
IGNORED = [one for one in STOPPING_SIGNALS if signal.getsignal(one) == signal.SIG_IGN]


def stop(number, frame):
    """End Snakemake by SystemExit, with status 1 by its scheduler. Its further messages would be of jobs that failed."""
    for one in STOPPING_SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    logging.disable()
    # A problem file may loop where it is loaded.
    while frame and not frame.f_code.co_filename.startswith(os.path.abspath("kernels")):
        frame = frame.f_back
    where = f" in {frame.f_code.co_filename}, line {frame.f_lineno}" if frame else ""
    LAST_WORDS.stopped = (
        f"Stopped{where}. Every finished point and job is kept in results; the same command goes on from there."
    )
    # Not those that Snakemake starts from now on, to cancel a cluster's jobs.
    processes = psutil.Process().children(recursive=True)
    # A thread can wait for a lock, which the main thread may hold now.
    threading.Thread(target=end_jobs, args=[processes]).start()
    sys.exit(1)


def end_jobs(processes):
    """End the fork servers with their jobs, and these processes: jobs with an environment of their own are among them."""
    FORK_SERVER.end()
    DRAWING_SERVER.end()
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def answer_signals():
    """Have stop() answer the signals; in a thread of a program's, that keeps its own way."""
    if threading.current_thread() is threading.main_thread():
        for one in STOPPING_SIGNALS:
            if one not in IGNORED:
                signal.signal(one, stop)


def ends_run(emit):
    """A handler's `emit`, with which a closed pipe stops the run: a job's thread that couldn't log the job's failure would
    never tell the scheduler of it, which waits for that.
    """

    def emit_or_stop(record):
        try:
            emit(record)
        except BrokenPipeError:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGTERM)

    return emit_or_stop


answer_signals()
if workflow.is_main_process and signal.getsignal(signal.SIGTERM) is stop:
    for handler in logger.handlers:
        handler.emit = ends_run(handler.emit)
# Snakemake's scheduler answers SIGTERM itself, and then tells what it has.
LAST_WORDS.scheduling = answer_signals


def go_on():
    """Set what Snakemake does about jobs that fail, and about files that a stopped run left half made.

    A failed job doesn't stop the jobs of other studies (--keep-going). Where one study runs, nothing is done in vain.
    """
    asked = targets_of(workflow)
    is_one = len(asked) == 1 and asked[0] in (*PROJECT.studies, *PROJECT.mistakes)
    has_several = not is_one and len(PROJECT.config.studies) + len(PROJECT.left_out) > 1
    workflow.execution_settings.keep_going |= bool(PROJECT.grading) or has_several
    workflow.dag_settings.force_incomplete = True  # --rerun-incomplete, also where no profile says so
    if workflow.is_main_process and (mistakes := PROJECT.mistakes):
        tell_mistakes(mistakes, asked)


def tell_mistakes(mistakes, asked):
    """Say for which mistakes studies are left out. Where no other is asked for, a run's last words do, or end a dry run."""
    if not {*asked} or not {*asked} <= {*mistakes}:
        count = f"{len(mistakes)} of {len(mistakes) + len(PROJECT.studies)} studies"
        logger.error("\n".join(["", *mistakes.values(), f"Left out for these mistakes: {count}.", ""]), extra=OURS)
    elif workflow.output_settings.dryrun:
        refuse("\n".join(mistakes[study] for study in asked))


LAST_WORDS.starting = go_on
