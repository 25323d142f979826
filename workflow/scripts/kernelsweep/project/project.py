"""The project: its checked configuration, its studies, and the platforms of this run.

Each stage checks its own part of a study here, so that the module that reads studies imports no later stage.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelsweep.device.choose import Model, check_names, choose_platforms, recorded_studies
from kernelsweep.device.kinds import kind_of
from kernelsweep.device.names import is_recording, recording_name
from kernelsweep.errors import UserError, check_known
from kernelsweep.home import HOME
from kernelsweep.judge.claims.claim import check_claims
from kernelsweep.judge.data.published import OUTPUT, PUBLISHED, SPEEDUP, check_published, read_published
from kernelsweep.observe.profiling.definitions import check_metric_names, definitions
from kernelsweep.observe.requests import observed_platforms
from kernelsweep.project.files import OTHERS, parts_of
from kernelsweep.project.grading import Grading, graded
from kernelsweep.publish.figure_files import check_figures
from kernelsweep.publish.share.recording import read_environment
from kernelsweep.study.kernels.source import GRID_SIZE, KernelSource
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.resolve import check_sweeps
from kernelsweep.study.settings import CONFIG_FILE, Config, Sweeps, read_config, study_names
from kernelsweep.study.study import Study, read_study
from kernelsweep.sweep.baselines.libraries import check_baselines


@dataclass(frozen=True, eq=False)
class Project:
    """The project as this run sees it: its configuration, studies and platforms.

    root       the folder of the Snakefile
    config     config.yaml and what --config set, checked, with defaults
    studies    every study in config/studies/ without a mistake, by name; `config.studies` names those that `all` runs
    mistakes   the first mistake of each other study, by name
    left_out   the studies with a mistake that `all` was to run
    grading    the candidates of the target grade, if this run has some
    platforms  where this run's points run, or were run
    models     the platforms among them that are GPUs, with their models
    """

    root: Path
    config: Config
    studies: Mapping[str, Study]
    platforms: Sequence[str]
    models: Mapping[str, Model]
    mistakes: Mapping[str, str]
    left_out: Sequence[str]
    grading: Grading | None = None

    def studies_of(self, scope: str) -> list[str]:
        """The names of a scope's studies: one, all that `all` runs, or all others. Raises UserError for another."""
        platform, study = parts_of(scope)
        if study and study != OTHERS:
            return [self._study(study).name]
        run = self.config.studies
        names = [name for name in self.studies if name not in run] if study else run
        return [name for name in names if self.can_have(platform, name)]

    def can_have(self, platform: str, study: str) -> bool:
        """Whether a platform can have results of a study: a recording has those that were recorded."""
        if not is_recording(platform):
            return True
        recorded = recorded_studies(self.root, recording_name(platform))
        return recorded is None or study in recorded

    def kernel(self, study: str, name: str) -> KernelSource:
        """A study's kernel. Raises UserError if there is none of that name."""
        kernels = self._study(study).kernels
        check_known(name, kernels, f"{study} has no kernel")
        return kernels[name]

    def _study(self, name: str) -> Study:
        if name in self.mistakes:
            raise UserError(self.mistakes[name])
        check_known(name, self.studies, "There is no study")
        return self.studies[name]

    def kernels_of(self, scope: str) -> list[tuple[str, str]]:
        """A scope's kernels, by study and name."""
        return [(study, kernel) for study in self.studies_of(scope) for kernel in self.studies[study].kernels]

    def target(self, platform: str) -> str:
        """The target of a platform's binaries: an architecture such as sm_90, or the emulator.

        Raises UserError for a GPU that isn't this run's.
        """
        if target := kind_of(platform).target:
            return target
        if self.config.arch != "native":
            return str(self.config.arch)
        check_known(platform, self.models, "This run has no GPU")
        return self.models[platform].arch


def load_project(config: Mapping[str, Any], root: Path, jobs_bring_pycuda: bool = False) -> Project:
    """Read and check the configuration, every study and every kernel's header, and choose the platforms.

    config             config.yaml's content, with what --config sets
    jobs_bring_pycuda  whether jobs run in environments of their own, so that PyCUDA need not be installed here

    A study with a mistake is left out. Raises UserError with file, key, value and what is allowed: for the first
    mistake of the configuration, and for those of all studies where none of the run's is left.
    """
    for folder in {root, Path.cwd()}:
        check_folder(folder)
    names = study_names(root)
    if not names:
        raise UserError(
            f"{root}: config/studies/ has no study. kernelsweep runs the studies of the folder that it is called in; "
            f"`kernelsweep new NAME` starts one, and {HOME / 'docs/your-kernel.md'} explains it."
        )
    checked = load_config(config, root)
    check_study_names(names)
    studies, mistakes = {}, {}
    for name in names:
        try:
            studies[name] = load_study(name, root)
            check_metrics(checked, studies[name])
            check_published_file(checked, studies[name], root)
        except UserError as error:
            mistakes[name] = str(error)
    platforms, models = choose_platforms(
        checked.platform, root, checked.values("gpu_models")["gpu_models"], jobs_bring_pycuda
    )
    for platform in filter(is_recording, platforms):
        read_environment(root / "resources/recordings" / recording_name(platform))
    if checked.profile:
        observed_platforms(list(models), platforms, "profile: true")
    if not mistakes:  # Else it may be an axis of theirs.
        check_run_axes(checked, studies.values())
    for name in studies.keys() - mistakes.keys():
        try:
            check_sweeps(checked, studies[name], platforms)
        except UserError as error:
            given = ", ".join(axis for axis in studies[name].problem.axes if axis in checked.axes)
            mistakes[name] = f"{error} {CONFIG_FILE} has other values of {given}." if given else str(error)
    left_out = [name for name in checked.studies if name in mistakes]
    right = [name for name in checked.studies if name not in mistakes]
    if not right:
        raise UserError("\n".join(mistakes[name] for name in left_out))
    found = {name: studies[name] for name in names if name not in mistakes}
    checked = checked.changed(studies=right)
    if not checked.candidate:
        return Project(root, checked, found, platforms, models, mistakes, left_out)
    measured = [platform for platform in platforms if not is_recording(platform)] or [EMULATOR]
    checked, study, grading = graded(checked, found, root, measured)
    return Project(root, checked, {**found, study.name: study}, measured, models, mistakes, left_out, grading)


def check_run_axes(config: Config, studies: Collection[Study]) -> None:
    """Raise UserError for an axis of the configuration that no study has, or with a value that it can't have.

    The sweeps' default axes, which replace nothing where no study has them, are no mistake.
    """
    known = list(dict.fromkeys(axis for study in studies for axis in study.problem.axes))
    default = Sweeps()
    named = {"axes": {*config.axes}, "sweeps.quick": {*config.sweeps.quick}, "sweeps.full": {*config.sweeps.full}}
    named |= {f"platforms.{name}.axes": {*one.axes} for name, one in config.platforms.items()}
    for key, axes in named.items():
        may_be = known if key == "axes" else {*known, GRID_SIZE, *default.quick, *default.full}
        for name in sorted(axes - {*may_be}):
            check_known(name, known, f"{CONFIG_FILE}: {key} has")


def check_folder(folder: Path) -> None:
    """Raise UserError for a folder whose path has a character that the tools behind a run misread."""
    for character in os.fsencode(folder).decode("utf-8", "surrogateescape"):  # Whatever the locale.
        if character in '{}":' or not character.isprintable():
            raise UserError(f"{folder}: the path has {character!r}, which a tool would misread. Move or rename it.")


def check_study_names(names: Collection[str]) -> None:
    """Raise UserError for a study that can't be a target, because of its name or because a rule has it."""
    rules = [HOME / "Snakefile", *sorted((HOME / "workflow/rules").glob("*.smk"))]
    taken = {name for file in rules for name in re.findall(r"^rule (\w+):", file.read_text(encoding="utf-8"), re.M)}
    for name in names:
        wrong = f"{name} is a rule of the workflow already" if name in taken else ""
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]{0,99}", name):
            wrong = "a study's name has up to 100 letters, digits, underscores and hyphens, and begins with a letter"
        if wrong:
            raise UserError(f"config/studies/{name}.yaml: {wrong}. Rename the file and the folder of its kernels.")


def load_config(config: Mapping[str, Any], root: Path) -> Config:
    """config.yaml, with what --config sets: checked by every stage, with defaults. Raises UserError as load_project."""
    checked = read_config(config, root)
    check_names(checked.platforms, CONFIG_FILE)
    try:
        definitions(checked.values("metrics")["metrics"])
    except UserError as error:
        raise UserError(f"{CONFIG_FILE}: {error}") from error
    return checked


def load_study(name: str, root: Path) -> Study:
    """A study, checked by every stage. Raises UserError as load_project."""
    study = read_study(name, root)
    for entry in (study.settings, *study.settings.kernels, *study.settings.further):
        check_names(entry.platforms, study.file.line("platforms"))
    check_baselines(study)
    check_claims(study.settings, study.kernels, study.file)
    check_figures(study)
    return study


def check_published_file(config: Config, study: Study, root: Path) -> None:
    """Raise UserError, with file and row, for a mistake in the file of published numbers that a study names."""
    name = study.settings.published
    try:
        published, axes = read_published(name, root / PUBLISHED), [*study.settings.kinds, GRID_SIZE]
        check_published(published, study.kernels, axes, config.metrics, f"{root / PUBLISHED}/{name}")
    except UserError as error:
        raise UserError(f"{study.file.line('published')}: {error}") from error


def check_metrics(config: Config, study: Study) -> None:
    """Raise UserError if a study or config.yaml names a metric that the configuration doesn't define."""
    check_metric_names(config.profiling.metrics, config.metrics, f"{CONFIG_FILE}: profiling")
    check_metric_names(study.settings.metrics, config.metrics, study.file.line("metrics"))
    for number, claim in enumerate(study.settings.claims if study.settings.steps else ()):
        check_known(
            claim.quantity, [SPEEDUP, OUTPUT, *config.metrics], f"{study.file.at(f'claims.{number}.quantity')} is"
        )
