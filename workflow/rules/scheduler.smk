# Snakemake's scheduler looks for further jobs once a second, however long the run is.
#
# Snakemake 9 starts a timer at each look, and each timer leads to another look: after a hundred jobs it looks a hundred
# times a second, which takes a core a fifth of its time. Here one timer runs at a time. The limit of jobs a second
# (--max-jobs-per-timespan), for which the timers exist, still holds.

import threading

from snakemake.scheduling.job_scheduler import JobScheduler

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


JobScheduler._schedule_reevalutation = look_again
