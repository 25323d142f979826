"""Every figure and the table of every study, where points failed in every way in which a point can fail."""

from __future__ import annotations

import random
import re

import pandas
import pytest
from matplotlib.text import Text
from recorded import recorded, steps_page
from shipped_kernels import shipped_studies

from kernelsweep.judge.data.study_data import StudyData
from kernelsweep.publish.drawing.layout import TWO_COLUMNS
from kernelsweep.publish.figure_files import drawn_figures
from kernelsweep.publish.figures import DRAWERS
from kernelsweep.publish.tables.formats import as_markdown
from kernelsweep.publish.tables.study_table import study_table
from kernelsweep.publish.tables.table_text import table_text
from kernelsweep.results import FLOATS, PROOF_FAILED, STATUSES
from kernelsweep.study.study import Study

FAILURES = [*(status for status in STATUSES if status != "ok"), PROOF_FAILED]
# With steps, with outputs, and with axes of its own.
STUDIES = [study for study in shipped_studies() if study.name in ("stepwise", "exchanges", "histogram")]
NO_VALUE = re.compile(r"\b(nan|None|NaT)\b|<NA>|[Nn]o point has a time: ok")


def with_failures(data: StudyData, failures: list[str]) -> StudyData:
    """The study with a failure, or "ok", for each row."""
    rows, found = data.measurements.copy(), pandas.Series(failures, index=data.measurements.index)
    unproven, failed = found == PROOF_FAILED, ~found.isin(["ok", PROOF_FAILED])
    rows.loc[unproven, "flags"] = (rows.loc[unproven, "flags"] + f" {PROOF_FAILED}").str.strip()
    rows.loc[failed, "status"] = rows.loc[failed, "message"] = found[failed]
    rows.loc[failed, [*FLOATS]] = None
    rows.loc[failed, "output"] = ""
    return StudyData(data.settings, rows, data.device, data.published, data.metrics)


def texts_of_each_figure(study: Study, data: StudyData) -> dict[str, str]:
    said = {}
    for name in drawn_figures(study, has_clock=True):
        figure = DRAWERS[name](data, TWO_COLUMNS).figure
        said[name] = " ".join(text.get_text() for text in figure.findobj(Text) if isinstance(text, Text))
    return said


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_status_is_drawn(study: Study) -> None:
    """Every second kernel fails as a whole, each in another way, and the points of the others in all ways."""
    data = recorded(study.name)
    kinds = [*FAILURES, "ok"]
    chosen, place = random.Random(1), {name: place for place, name in enumerate(data.kernel_names)}
    failures = [
        kinds[place[kernel] // 2 % len(FAILURES)] if place.get(kernel, 0) % 2 else chosen.choice(kinds)
        for kernel in data.measurements["kernel"]
    ]
    failed = with_failures(data, failures)
    for name, said in texts_of_each_figure(study, failed).items():
        assert not (found := NO_VALUE.search(said)), f"{name}: {found}"
    table = table_text(study_table(failed), failed)
    sources = {name: kernel.path.read_text() for name, kernel in study.kernels.items()}
    for text in (as_markdown(table), steps_page(failed, sources)):
        assert not NO_VALUE.search(text)
