"""The number of points of each job, and the resources that it requests from a cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby

import pytest

from kernelsweep.platforms.choose import Model
from kernelsweep.project import inputs, resources
from kernelsweep.project.building import compiles_what_it_measures
from kernelsweep.project.project import Project
from kernelsweep.sweep.settings import Measuring, Search

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


def test_a_kernel_of_many_units_and_a_search_are_compiled_by_the_job_that_measures_them(
    shipped: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = ("nvidia-h200", "matmul", "double_buffered")
    shipped = replace(shipped, models={kernel[0]: Model("sm_90", "580", 1)})
    cores = partial(resources.measuring_threads, shipped, *kernel)
    assert not compiles_what_it_measures(shipped, *kernel) and cores(cores=16) == 1
    assert inputs.measured_build(shipped, *kernel) == inputs.build(shipped, *kernel)
    assert compiles_what_it_measures(shipped, "emulator", *kernel[1:])
    monkeypatch.setattr("kernelsweep.project.building.MOST_UNITS_BEFORE", 1)
    compiles_what_it_measures.cache_clear()
    assert compiles_what_it_measures(shipped, *kernel)
    assert inputs.measured_build(shipped, *kernel) == []
    assert 1 < cores(cores=4) <= 4 and cores(cores=1) == 1
    monkeypatch.undo()
    compiles_what_it_measures.cache_clear()
    study = shipped.studies["matmul"]
    of_search = replace(study, settings=study.settings.changed(search=Search(budget=10)))
    searched = replace(shipped, studies={**shipped.studies, "matmul": of_search})
    assert compiles_what_it_measures(searched, *kernel)


def test_studies_are_measured_one_after_another_and_the_longest_first(shipped: Project) -> None:
    # Pins: a study of which one small kernel is measured last, so that none of its figures is drawn before the end.
    with_gpu = replace(shipped, models={KERNEL[0]: Model("sm_90", "580", 1)})
    of_platform = with_gpu.kernels_of(KERNEL[0])
    kernels = sorted(of_platform, key=lambda one: -resources.measuring_priority(with_gpu, KERNEL[0], *one))
    studies = [study for study, _ in groupby(kernels, key=lambda one: one[0])]
    assert len(studies) == len(set(studies)) == len(shipped.config.studies)
    points = Counter[str]()
    for study, kernel in kernels:
        points[study] += resources.points_of_job(with_gpu, KERNEL[0], study, kernel)
    assert [points[study] for study in studies] == sorted(points.values(), reverse=True)
    first, last = (resources.measuring_priority(with_gpu, KERNEL[0], *kernels[place]) for place in (0, -1))
    # No build comes before a kernel that is built, and builds come in the order of measuring.
    builds = [resources.build_priority(with_gpu, "sm_90", *one) for one in kernels]
    assert builds == sorted(builds, reverse=True) and last > builds[0]
    assert resources.build_priority(with_gpu, "sm_90") == resources.first_priority(with_gpu) > first
    assert resources.build_threads(with_gpu, "sm_90", *kernels[0], cores=2) == 1
    # The GPU waits for no build of the emulator's, on which everything waits where it is alone.
    assert resources.build_priority(with_gpu, "emulator") < 0
    assert resources.build_priority(replace(shipped, models={}), "emulator") > 0
    assert [resources.most_measuring(1, cores) for cores in (1, 2, 3, 8, 16)] == [1, 1, 2, 3, 5]
    assert resources.most_measuring(4, 16) == 6
    # A study that config.yaml doesn't list.
    assert "matmul" not in shipped.config.studies
    assert resources.measuring_priority(with_gpu, KERNEL[0], "matmul", "naive") > 0
