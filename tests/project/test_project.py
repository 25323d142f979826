"""Loading the project: mistakes of the whole of it are told before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from checkout import ROOT

from kernelsweep.errors import UserError
from kernelsweep.project.project import check_folder, load_project


@pytest.mark.parametrize("name", ["a{b}", 'a"b', "a:b", "a\nb"])
def test_a_folder_whose_path_a_tool_would_misread_is_refused(name: str, tmp_path: Path) -> None:
    # Pins: a traceback of Snakemake's, and g++'s complaint about an include.
    with pytest.raises(UserError, match=r"which a tool would misread. Move or rename it"):
        check_folder(tmp_path / name)
    check_folder(tmp_path / "a b'c$d;e*f\\g(h)i,jäk%l#m&n=[o]")


def test_a_mistake_of_a_study_by_values_of_the_configurations_axes_says_so() -> None:
    metrics = yaml.safe_load((ROOT / "config/metrics.yaml").read_text())
    given = {**metrics, "platform": "emulator", "axes": {"n": [-5]}, "studies": ["axpy"]}
    said = r"'n / block' is 0 at n -5, .* config/config\.yaml \(or --config\) has other values of n\.$"
    with pytest.raises(UserError, match=said):
        load_project(given, ROOT / "examples/own-repository")
