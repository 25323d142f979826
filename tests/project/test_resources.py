"""The number of points of each job, and the resources that it requests from a cluster."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

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
    assert resources.build_priority(shipped) > whole > 100
    cut = replace(shipped, config={**shipped.config, "points_per_job": 100})
    chunks = resources.chunks_of_kernel(cut, *KERNEL)
    each = resources.points_of_job(cut, *KERNEL, str(chunks))
    assert each <= 100 and each * chunks >= whole
    # The kernel's own job then only joins them.
    assert resources.points_of_job(cut, *KERNEL) == 0
    assert resources.minutes_of_kernel(cut, *KERNEL) == resources.shortest_minutes(cut)
    assert resources.minutes_of_kernel(shipped, *KERNEL) > resources.minutes_of_kernel(cut, *KERNEL, str(chunks))


def test_a_kernel_of_many_units_and_a_search_are_compiled_by_the_job_that_measures_them(
    shipped: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = ("nvidia-h200", "matmul", "double_buffered")
    cores = partial(resources.measuring_threads, shipped, *kernel)
    assert not builds_while_measuring(shipped, *kernel) and cores(cores=16) == 1
    assert inputs.measured_binary(shipped, *kernel) == [inputs.binary(shipped, *kernel)]
    monkeypatch.setattr("kernelsweep.project.building.MOST_UNITS_BEFORE", 1)
    builds_while_measuring.cache_clear()
    assert builds_while_measuring(shipped, *kernel) and not builds_while_measuring(shipped, "emulator", *kernel[1:])
    assert inputs.measured_binary(shipped, *kernel) == inputs.measured_report(shipped, *kernel) == []
    assert 1 < cores(cores=4) <= 4 and cores(cores=1) == 1
    monkeypatch.undo()
    builds_while_measuring.cache_clear()
    study = shipped.studies["matmul"]
    of_search = replace(study, settings={**study.settings, "search": {"budget": 10, "at": {}}})
    searched = replace(shipped, studies={**shipped.studies, "matmul": of_search})
    assert builds_while_measuring(searched, *kernel)
    assert not builds_while_measuring(searched, "emulator", *kernel[1:])


def test_a_job_asks_for_a_gpu_of_its_model_and_the_emulators_for_none(shipped: Project) -> None:
    names = resources.resource_names(shipped)
    assert names == ["constraint", "gpu", "runtime"]

    def asked(platform: str) -> dict[str, str | int | None]:
        return {name: resources.resource(shipped, platform, name, minutes=20) for name in names}

    assert asked("nvidia-h200") == {"constraint": None, "gpu": 1, "runtime": 20}
    assert asked("nvidia-l4") == {"constraint": "l4", "gpu": 1, "runtime": 5}
    assert asked("emulator") == {"constraint": None, "gpu": None, "runtime": 20}
