"""The number of points of each job, and the resources that it requests from a cluster."""

from __future__ import annotations

from dataclasses import replace

from kernelsweep.project import resources
from kernelsweep.project.project import Project
from kernelsweep.sweep.settings import Measuring

MEASURING = Measuring()
KERNEL = ("nvidia-h200", "unrolling", "unrolled")


def test_time_limits_follow_the_sweep(shipped: Project) -> None:
    def minutes(**changed: float) -> int:
        config = shipped.config.changed(measuring=MEASURING.changed(**changed))
        return resources.minutes_of_kernel(replace(shipped, config=config), *KERNEL)

    assert minutes() > resources.shortest_minutes(shipped) > 5
    # A job waits for a point that hangs, and repeating each point for its energy takes longer.
    assert minutes(timeout_seconds=1200) >= minutes() + 18
    assert minutes(energy_seconds=2) >= minutes() + 20


def test_points_are_shared_out_among_jobs(shipped: Project) -> None:
    whole = resources.points_of_job(shipped, *KERNEL)
    assert whole > 100
    cut = replace(shipped, config=shipped.config.changed(points_per_job=100))
    chunks = resources.chunks_of_kernel(cut, *KERNEL)
    each = resources.points_of_job(cut, *KERNEL, str(chunks))
    assert each <= 100 and each * chunks >= whole
    # The kernel's own job then only joins them.
    assert resources.points_of_job(cut, *KERNEL) == resources.measuring_priority(cut, *KERNEL) == 0
    assert resources.measuring_priority(cut, *KERNEL, str(chunks)) == resources.measuring_priority(shipped, *KERNEL)
    assert resources.minutes_of_kernel(cut, *KERNEL) == resources.shortest_minutes(cut)
    assert resources.minutes_of_kernel(shipped, *KERNEL) > resources.minutes_of_kernel(cut, *KERNEL, str(chunks))
