"""The recording of an H200, read once in a process."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas
from checkout import ROOT
from shipped_kernels import shipped_study

from kernelsweep.judge.data.measurements import load_measurements
from kernelsweep.judge.data.published import PUBLISHED, read_published
from kernelsweep.judge.data.study_data import Metrics, StudyData, load_metrics
from kernelsweep.publish.share.recording import read_environment, recorded_device
from kernelsweep.publish.steps.findings import story_data
from kernelsweep.publish.steps.steps_page import named_in, steps_text
from kernelsweep.study.settings import read_yaml

RECORDING = ROOT / "resources/recordings/nvidia-h200"


@cache
def _tables() -> tuple[pandas.DataFrame, pandas.DataFrame, dict[str, Any]]:
    device = recorded_device(read_environment(RECORDING), RECORDING.name)
    measurements = load_measurements([RECORDING / "measurements.csv.gz"])
    return measurements, load_metrics([RECORDING / "metrics.csv.gz"]), device


@cache
def recorded(name: str) -> StudyData:
    """A shipped study's points and counters, beside what is published of it."""
    measurements, counters, device = _tables()
    study = shipped_study(name)
    settings, gridded = study.settings, [kernel for kernel, one in study.kernels.items() if one.chooses_grid]
    definitions = read_yaml(ROOT / "config/metrics.yaml", "config/metrics.yaml")["metrics"]
    metrics = Metrics(counters[counters["study"] == name], {one: definitions[one] for one in settings.metrics})
    published = read_published(settings.published, ROOT / PUBLISHED)
    return StudyData(settings, measurements[measurements["study"] == name], device, published, metrics, gridded=gridded)


def steps_page(data: StudyData, sources: dict[str, str]) -> str:
    """The text on a study's steps, of its data and the text of each kernel's file."""
    named = {name: named_in(text) for name, text in sources.items()}
    return steps_text(story_data(data, named, {}), sources)
