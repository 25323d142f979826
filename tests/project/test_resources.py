"""The number of points of each job."""

from __future__ import annotations

from dataclasses import replace

from kernelsweep.project import resources
from kernelsweep.project.project import Project

KERNEL = ("nvidia-h200", "unrolling", "unrolled")


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
