# When a run ends before its last job: by a failed job, or by the user.
#
# Ctrl-C, SIGTERM and a closed terminal end a run with one sentence, and with the status 130, 143 or 129. Snakemake's own
# way ends in stacks where Ctrl-C comes twice, as `uv run` sends it, and on SIGTERM it waits for the jobs, or forever.

import atexit
import contextlib
import logging
import os
import signal
import sys
import threading

import psutil

STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STOPPED_BY = []


def stop(number, frame):
    """End Snakemake by SystemExit. Its further messages would be of jobs that failed."""
    for one in STOPPING_SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    STOPPED_BY.append(number)
    logging.disable()
    atexit.unregister(LAST_WORDS.say)
    # A problem file may loop where it is loaded.
    while frame and not frame.f_code.co_filename.startswith(os.path.abspath("kernels")):
        frame = frame.f_back
    atexit.register(say_stopped, f" in {frame.f_code.co_filename}, line {frame.f_lineno}" if frame else "")
    # Not those that Snakemake starts from now on, to cancel a cluster's jobs.
    processes = psutil.Process().children(recursive=True)
    # A thread can wait for a lock, which the main thread may hold now.
    threading.Thread(target=end_jobs, args=[processes]).start()
    sys.exit(128 + number)


def end_jobs(processes):
    """End the fork servers with their jobs, and these processes: jobs with an environment of their own are among them."""
    FORK_SERVER.end()
    DRAWING_SERVER.end()
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()


def say_stopped(where):
    """The last line, in place of the line of progress that a job may have left; `where` in the user's files."""
    erase = "\r\033[K" if sys.stderr.isatty() else ""
    message = f"Stopped{where}. Every finished point and job is kept in results; the same command goes on from there."
    print(f"{erase}{message}", file=sys.stderr, flush=True)


def stopping(schedule):
    """Snakemake's way of running the jobs, which notes after stop() which have ended, so that the next run knows.

    A failed job doesn't stop the jobs of other studies (--keep-going). Where one study runs, nothing is done in vain.
    """

    def run(scheduler):
        asked = targets_of(workflow)
        is_one = len(asked) == 1 and asked[0] in (*PROJECT.studies, *PROJECT.mistakes)
        has_several = not is_one and len(PROJECT.config.studies) + len(PROJECT.left_out) > 1
        scheduler.keepgoing |= bool(PROJECT.grading) or has_several
        has_succeeded = schedule(scheduler)
        if STOPPED_BY:
            try:
                with scheduler._lock:
                    scheduler._finish_jobs()
                    scheduler._error_jobs()
                renew_pages()
            finally:
                sys.exit(128 + STOPPED_BY[0])
        return has_succeeded

    return run


patch(
    "snakemake.scheduling.job_scheduler:JobScheduler",
    "schedule",
    ["self"],
    stopping,
    uses=["_lock", "_finish_jobs", "_error_jobs", "keepgoing"],
)
patch(
    "snakemake.scheduling.job_scheduler:JobScheduler",
    "exit_gracefully",
    ["self", "args"],
    lambda _: staticmethod(stop),
)
if threading.current_thread() is threading.main_thread():
    for one in STOPPING_SIGNALS:
        if signal.getsignal(one) != signal.SIG_IGN:  # As nohup has it.
            signal.signal(one, stop)
