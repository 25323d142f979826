"""The number of points of each job, and the resources that it requests from a cluster."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import groupby

import pytest

from kernelsweep.platforms.choose import Model
from kernelsweep.project import inputs, resources
from kernelsweep.project.building import builds_while_measuring
from kernelsweep.project.project import Project

MEASURING = {"max_seconds": 0.5, "visits": 3, "energy_seconds": 0, "timeout_seconds": 120, "max_pause_seconds": 10}
KERNEL = ("nvidia-h200", "unrolling", "unrolled")


def test_time_limits_follow_the_sweep() -> None:
    few, many = resources.measuring_minutes(100, MEASURING), resources.measuring_minutes(10_000, MEASURING)
    # Ten thousand points of an H200's slowest kernel take 15 minutes; starting and waiting takes some time as well.
    assert many > 15 > few > resources.measuring_minutes(0, MEASURING) > 5
    # A job waits for a point that hangs, and repeating each point for its energy takes longer.
    assert resources.measuring_minutes(100, {**MEASURING, "timeout_seconds": 1200}) >= few + 18
    assert resources.measuring_minutes(100, {**MEASURING, "energy_seconds": 2}) >= few + 20
    assert resources.profiling_minutes(3, {"timeout_seconds": 600}) > 30


def test_points_are_shared_out_among_jobs_that_start_after_every_build(shipped: Project) -> None:
    whole = resources.points_of_job(shipped, *KERNEL)
    assert whole > 100
    cut = replace(shipped, config={**shipped.config, "points_per_job": 100})
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
    assert not builds_while_measuring(shipped, *kernel) and cores(cores=16) == 1
    assert inputs.measured_build(shipped, *kernel, "bin") == [inputs.build(shipped, *kernel, "bin")]
    monkeypatch.setattr("kernelsweep.project.building.MOST_UNITS_BEFORE", 1)
    builds_while_measuring.cache_clear()
    assert builds_while_measuring(shipped, *kernel) and not builds_while_measuring(shipped, "emulator", *kernel[1:])
    assert inputs.measured_build(shipped, *kernel, "bin") == []
    assert 1 < cores(cores=4) <= 4 and cores(cores=1) == 1
    monkeypatch.undo()
    builds_while_measuring.cache_clear()
    study = shipped.studies["matmul"]
    of_search = replace(study, settings={**study.settings, "search": {"budget": 10, "at": {}}})
    searched = replace(shipped, studies={**shipped.studies, "matmul": of_search})
    assert builds_while_measuring(searched, *kernel)
    assert not builds_while_measuring(searched, "emulator", *kernel[1:])


def test_studies_are_measured_one_after_another_and_the_longest_first(shipped: Project) -> None:
    # Pins: a study of which one small kernel is measured last, so that none of its figures is drawn before the end.
    with_gpu = replace(shipped, models={KERNEL[0]: Model("sm_90", "580", 1)})
    of_platform = with_gpu.kernels_of(KERNEL[0])
    kernels = sorted(of_platform, key=lambda one: -resources.measuring_priority(with_gpu, KERNEL[0], *one))
    studies = [study for study, _ in groupby(kernels, key=lambda one: one[0])]
    assert len(studies) == len(set(studies)) == len(shipped.config["studies"])
    points = Counter[str]()
    for study, kernel in kernels:
        points[study] += resources.points_of_job(with_gpu, KERNEL[0], study, kernel)
    assert [points[study] for study in studies] == sorted(points.values(), reverse=True)
    first = resources.measuring_priority(with_gpu, KERNEL[0], *kernels[0])
    assert resources.build_priority(with_gpu, "sm_90") > first
    # The GPU waits for no build of the emulator's, on which everything waits where it is alone.
    assert resources.build_priority(with_gpu, "emulator") < 0
    assert resources.build_priority(replace(shipped, models={}), "emulator") > 0
    assert [resources.most_measuring(1, cores) for cores in (1, 2, 3, 8)] == [1, 1, 2, 3]
    assert resources.most_measuring(4, 16) == 6
    # A study that config.yaml doesn't list.
    assert "matmul" not in shipped.config["studies"]
    assert resources.measuring_priority(with_gpu, KERNEL[0], "matmul", "naive") > 0


def test_a_job_asks_for_a_gpu_of_its_model_and_the_emulators_for_none(shipped: Project) -> None:
    names = resources.resource_names(shipped)
    assert names == ["constraint", "gpu", "runtime"]

    def asked(platform: str) -> dict[str, str | int | None]:
        return {name: resources.resource(shipped, platform, name, minutes=20) for name in names}

    assert asked("nvidia-h200") == {"constraint": None, "gpu": 1, "runtime": 20}
    assert asked("nvidia-l4") == {"constraint": "l4", "gpu": 1, "runtime": 5}
    assert asked("emulator") == {"constraint": None, "gpu": None, "runtime": 20}
