"""What a job depends on besides its files: a record for each kind of job, which its rule plans and its script reads.

Snakemake compares no records between runs. made_from.py does, without the fields that are no reason to run a job again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

_NO_REASON = {"is_reason": False}

# In a plan's builds, what the machine that plans a job and the one that runs it may have differently.
OF_MACHINE = "of_machine"

# Each parameter of a job, and each field of a plan, in the words that tell why a job runs again: they changed.
IN_WORDS = {
    "accesses": "the pictures of the kernels' accesses",
    "against": "the kernel to run beside",
    "build": "how the kernel is compiled",
    "call": "how the study calls the library",
    "candidates": "the candidates",
    "code_of_kernelsweep": "the code of kernelsweep",
    "compare": "the settings of compare",
    "configuration": "the configuration",
    "definitions": "the definitions of the metrics",
    "drawn": "the points that were drawn by lot",
    "edited": "the list of kernels edited since the recording",
    "explored": "what the studies' files say",
    "figures": "the list of figures",
    "font": "the font of the figures",
    "formats": "the formats of the figures",
    "found_metrics": "the files with metrics",
    "gridded": "the kernels whose number of blocks the sweep chooses",
    "has_own_axes": "the emulator's own axes",
    "index": "the place of the page of all pages",
    "is_candidate": "whether the kernel is a candidate",
    "journal": "the place of the kernel's journal",
    "journals": "the places of the journals",
    "kernel": "what the study's file says of the kernel",
    "kernel_codes": "the code of the kernels",
    "kernels": "the kernels, or their points,",
    "limits": "the driver's functions to measure",
    "margin": "same_within",
    "measurements": "the list of files with points",
    "measuring": "the settings of measuring",
    "metrics": "the definitions of the metrics",
    "named": "the kernels that a story names",
    "never_measured": "the number of kernels that were never measured",
    "number": "the number of the run",
    "of_study": "the study of the candidates",
    "options": "the options of the compiler",
    "page": "the place of the page",
    "pictured": "the steps whose accesses are drawn",
    "plan": "the kind of job",
    "points": "the points to count",
    "problem": "the problem",
    "profiling": "the settings of profiling",
    "reference": "the study's reference point",
    "results": "the place of the results",
    "rivals": "the libraries to measure",
    "search": "the search",
    "seed": "the seed",
    "sizes": "the axes of size",
    "small_axes": "the emulator's axes",
    "store": "the place of compiled code",
    "studies": "what the studies' files say",
    "study": "what the study's file says",
    "sweep": "the points of the sweep",
    "target": "the GPU to compile for",
    "timeout_seconds": "timeout_seconds",
    "title": "the title of the page",
    "uncertainties": "the uncertainties of the metrics",
    "value": "a setting of the job",
    "view": "the view of the explorer",
    "width": "the width of the figure",
    "widths": "the widths of the figures",
}

Plain = Mapping[str, Any]


def shows_stories(plan: Any) -> bool:
    """Whether a plan's job shows the comments before kernels' code."""
    return isinstance(plan, StoryPlan)


def reasons(plan: Any) -> dict[str, Any]:
    """The fields of a plan that are reasons to run its job again, if they change."""
    return {each.name: getattr(plan, each.name) for each in fields(plan) if each.metadata.get("is_reason", True)}


@dataclass(frozen=True)
class ValuePlan:
    """A job that depends on one value."""

    value: Any


@dataclass(frozen=True)
class BuildPlan:
    """What is compiled.

    build    what compiles, and a kernel's units (compile/builder.py)
    options  of the compiler, besides
    """

    build: Plain
    options: Sequence[str] = ()


@dataclass(frozen=True)
class PointsPlan:
    """Points of a study's kernels that are run in a process of their own: to check the problem, and for pictures.

    kernels  each with its points
    rivals   the study's calls of libraries, whose arguments are checked, too
    """

    kernels: Sequence[Plain]
    seed: int
    timeout_seconds: float
    rivals: Plain = field(default_factory=dict)


@dataclass(frozen=True)
class BesidePlan:
    """What is measured of a study beside its kernels: a library's function, or the driver's copy and fill.

    problem    of the study
    sweep      axes and restrictions
    measuring  config.yaml's settings
    journal    of the library's points, no output as in ProofPlan; and how the study calls the library
    limits     which of the driver's functions, and the study's reference point
    """

    problem: Plain
    sweep: Plain
    measuring: Plain
    seed: int = 0
    journal: str = ""
    call: Plain = field(default_factory=dict)
    limits: Sequence[str] = ()
    reference: Plain = field(default_factory=dict)


@dataclass(frozen=True)
class EnvironmentPlan:
    """What environment.json says of a run.

    configuration  the settings of the run and of its studies
    kernel_codes   the hash of each kernel's code: by these, a recording tells what was edited since
    """

    configuration: Plain
    kernel_codes: Mapping[str, str]
    target: str


@dataclass(frozen=True)
class ObservedPlan:
    """How some of a kernel's points run under a tool.

    kernel, sweep  as ProofPlan has them
    build          what compiles for the platform
    small_axes     the axes on the emulator, whose points compute-sanitizer runs
    study          the settings by which Nsight Compute's points are chosen, and the metrics' definitions
    profiling      config.yaml's settings
    """

    kernel: Plain
    sweep: Plain
    build: Plain
    seed: int
    timeout_seconds: float
    small_axes: Sequence[Plain] = ()
    study: Plain = field(default_factory=dict)
    metrics: Plain = field(default_factory=dict)
    profiling: Plain = field(default_factory=dict)


@dataclass(frozen=True)
class ProofPlan:
    """How a kernel is proven, or counted, on the emulator.

    journal       of its points, which is no output: Snakemake deletes those before a job starts
    number        of the job's run (tries.py)
    sweep         axes and restrictions, for KernelSweep
    build         how it is compiled (compile/builder.py); None where another job does so
    measuring     config.yaml's settings
    kernel        its problem and its settings in the study, for kernel_of_job()
    is_candidate  whether nobody trusts it
    has_own_axes  whether the study or the kernel has axes for the emulator
    points        those to count, as plain values; None for a proof, which chooses its own
    """

    journal: str
    number: int
    sweep: Plain
    build: Plain | None
    measuring: Plain
    kernel: Plain
    is_candidate: bool
    seed: int
    has_own_axes: bool = False
    points: Sequence[Plain] | None = None


@dataclass(frozen=True)
class KernelPlan(ProofPlan):
    """How a kernel is measured.

    search     its search; None where every point is measured
    against    the kernel beside which a candidate runs (sweep/against.py)
    processes  how many references are computed at once, before the job waits for the device
    margin     how much slower an edit may be and count as the same, as a fraction
    decides    whether the run is for a verdict alone
    """

    search: Plain | None = None
    against: Plain | None = None
    store: str = ""
    # How an edit is judged is no reason to measure again.
    processes: int = field(default=1, metadata=_NO_REASON)
    margin: float = field(default=0.0, metadata=_NO_REASON)
    decides: bool = field(default=False, metadata=_NO_REASON)


@dataclass(frozen=True)
class StudyPlan:
    """What a study's tables and figures show.

    study          its settings
    widths, font   of figures, as config.yaml names them
    formats        of figures
    definitions    of metrics, by name
    found_metrics  existing files with metrics, each with its hash
    accesses       the pictures of its steps
    named          by kernel, the kernels that its story names
    edited         kernels that were edited after they were recorded
    gridded        kernels whose number of blocks the sweep chooses
    """

    study: Plain
    figures: Sequence[str]
    widths: Sequence[str | float]
    font: str
    formats: Sequence[str]
    definitions: Plain
    found_metrics: Mapping[str, str]
    accesses: Mapping[int, Plain]
    named: Mapping[str, Sequence[str]]
    edited: Sequence[str]
    gridded: Sequence[str]


@dataclass(frozen=True)
class StoryPlan:
    """A job that shows the comments before kernels' code, and all else that it reads."""


@dataclass(frozen=True)
class ScopePlan:
    """What the judgements on a scope's results depend on.

    studies        the settings of each study that judgements depend on
    measurements   the files with each study's points
    gridded        by study, the kernels whose number of blocks the sweep chooses
    uncertainties  by metric, how far its value may lie from run to run, as a fraction; 0 for counts
    found_metrics  existing files with metrics, each with its hash
    kernels        of the run (analysis.row_counts.PlannedKernel)
    edited         kernels that were edited after they were recorded
    page           the file of the scope's page
    store          of sources, by their hashes
    """

    studies: Mapping[str, Plain]
    measurements: Mapping[str, Sequence[str]]
    gridded: Mapping[str, Sequence[str]]
    uncertainties: Mapping[str, float]
    found_metrics: Mapping[str, str]
    kernels: Sequence[Plain]
    edited: Sequence[str]
    page: str
    store: str


@dataclass(frozen=True)
class PagePlan:
    """What a page shows besides results.

    index    the page of all pages
    studies  what the page says of each of the scope's studies, in their order
    """

    title: str
    index: str
    studies: Mapping[str, Plain]


@dataclass(frozen=True)
class ViewPlan:
    """A view of the explorer, which is drawn for a paper.

    study, edited, gridded  as StudyPlan has them
    view                    the explorer's address
    width, font             of the figure
    """

    study: Plain
    edited: Sequence[str]
    gridded: Sequence[str]
    view: str
    width: str | float
    font: str


@dataclass(frozen=True)
class ComparisonPlan:
    """What is compared.

    compare         config.yaml's settings
    results         the folder with the journals, which hold earlier measurements
    sizes           by study, its axes of size
    store           of compiled units
    explored        what the explorer needs to know of each study
    index           the page of all pages
    never_measured  how many kernels are left out, because they have no earlier version
    pictured        by kernel (study/kernel), the step whose accesses are drawn
    """

    compare: Plain
    results: str
    sizes: Mapping[str, Sequence[str]]
    store: str
    explored: Mapping[str, Plain]
    index: str
    never_measured: int
    pictured: Mapping[str, str]


@dataclass(frozen=True)
class GradePlan:
    """How candidates are judged.

    of_study    the study whose problem they solve
    against     the kernel that they are compared with
    candidates  by name: their file, why it is refused, and what reading it has found
    drawn       the points that nobody knows, as the values of their axes
    journals    of those that are timed, by name
    sizes       the axes that say how large the problem is
    margin      the smallest difference of times that matters, as a fraction
    index       the page of all pages
    """

    of_study: str
    against: str
    candidates: Mapping[str, Plain]
    drawn: Sequence[Plain]
    journals: Mapping[str, str]
    sizes: Sequence[str]
    margin: float
    index: str
