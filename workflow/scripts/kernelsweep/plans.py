"""What a job depends on besides its files: a record for each kind of job, which its rule plans and its script reads.

Snakemake compares no records between runs. made_from.py does, without the fields that are no reason to run a job again.
A field's type has, where its name stands first, the words that tell why a job runs again: they changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Annotated, Any, get_origin, get_type_hints

_NO_REASON = {"is_reason": False}

# In a plan's builds, what the machine that plans a job and the one that runs it may have differently.
OF_MACHINE = "of_machine"

Plain = Mapping[str, Any]


def reasons(plan: Any) -> dict[str, Any]:
    """The fields of a plan that are reasons to run its job again, if they change."""
    return {each.name: getattr(plan, each.name) for each in fields(plan) if each.metadata.get("is_reason", True)}


@dataclass(frozen=True)
class ValuePlan:
    """A job that depends on one value."""

    value: Annotated[Any, "a setting of the job"]


@dataclass(frozen=True)
class BuildPlan:
    """What is compiled.

    build  what compiles, and a kernel's units (compile/builder.py)
    """

    build: Annotated[Plain, "how the kernel is compiled"]
    options: Annotated[Sequence[str], "the options of the compiler"] = ()


@dataclass(frozen=True)
class PointsPlan:
    """Points of a study's kernels that are run in a process of their own: to check the problem, and for pictures.

    kernels  each with its points
    rivals   the study's calls of libraries, whose arguments are checked, too
    """

    kernels: Annotated[Sequence[Plain], "the kernels, or their points,"]
    seed: Annotated[int, "the seed"]
    timeout_seconds: Annotated[float, "timeout_seconds"]
    rivals: Annotated[Plain, "the libraries to measure"] = field(default_factory=dict)


@dataclass(frozen=True)
class BesidePlan:
    """What is measured of a study beside its kernels: a library's function, or the driver's copy and fill.

    journal  of the library's points, no output as in ProofPlan
    """

    problem: Annotated[Plain, "the problem"]
    sweep: Annotated[Plain, "the points of the sweep"]
    measuring: Annotated[Plain, "the settings of measuring"]
    seed: int = 0
    journal: Annotated[str, "the place of the kernel's journal"] = ""
    call: Annotated[Plain, "how the study calls the library"] = field(default_factory=dict)
    limits: Annotated[Sequence[str], "the driver's functions to measure"] = ()
    reference: Annotated[Plain, "the study's reference point"] = field(default_factory=dict)


@dataclass(frozen=True)
class EnvironmentPlan:
    """What environment.json says of a run.

    kernel_codes  the hash of each kernel's code: by these, a recording tells what was edited since
    """

    configuration: Annotated[Plain, "the configuration"]
    kernel_codes: Annotated[Mapping[str, str], "the code of the kernels"]
    target: Annotated[str, "the GPU to compile for"]


@dataclass(frozen=True)
class ObservedPlan:
    """How some of a kernel's points run under a tool.

    kernel, sweep  as ProofPlan has them
    small_axes     the axes on the emulator, whose points compute-sanitizer runs
    study          the settings by which Nsight Compute's points are chosen, and the metrics' definitions
    """

    kernel: Annotated[Plain, "what the study's file says of the kernel"]
    sweep: Plain
    build: Plain
    seed: int
    timeout_seconds: float
    small_axes: Annotated[Sequence[Plain], "the emulator's axes"] = ()
    study: Plain = field(default_factory=dict)
    metrics: Annotated[Plain, "the definitions of the metrics"] = field(default_factory=dict)
    profiling: Annotated[Plain, "the settings of profiling"] = field(default_factory=dict)


@dataclass(frozen=True)
class ProofPlan:
    """How a kernel is proven, or counted, on the emulator.

    journal       of its points, which is no output: Snakemake deletes those before a job starts
    number        of the job's run (tries.py)
    sweep         axes and restrictions, for KernelSweep
    build         how it is compiled (compile/builder.py); None where another job does so
    kernel        its problem and its settings in the study, for kernel_of_job()
    is_candidate  whether nobody trusts it
    has_own_axes  whether the study or the kernel has axes for the emulator
    points        those to count, as plain values; None for a proof, which chooses its own
    """

    journal: str
    number: Annotated[int, "the number of the run"]
    sweep: Plain
    build: Plain | None
    measuring: Plain
    kernel: Plain
    is_candidate: Annotated[bool, "whether the kernel is a candidate"]
    seed: int
    has_own_axes: Annotated[bool, "the emulator's own axes"] = False
    points: Annotated[Sequence[Plain] | None, "the points to count"] = None


@dataclass(frozen=True)
class KernelPlan(ProofPlan):
    """How a kernel is measured.

    search     its search; None where every point is measured
    against    the kernel beside which a candidate runs (sweep/against.py)
    processes  how many references are computed at once, before the job waits for the device
    margin     how much slower an edit may be and count as the same, as a fraction
    decides    whether the run is for a verdict alone
    """

    search: Annotated[Plain | None, "the search"] = None
    against: Annotated[Plain | None, "the kernel to run beside"] = None
    store: Annotated[str, "the place of compiled code"] = ""
    # How an edit is judged is no reason to measure again.
    processes: int = field(default=1, metadata=_NO_REASON)
    margin: float = field(default=0.0, metadata=_NO_REASON)
    decides: bool = field(default=False, metadata=_NO_REASON)


@dataclass(frozen=True)
class StudyPlan:
    """What a study's tables and figures show.

    widths, font   as config.yaml names them
    found_metrics  existing files, each with its hash
    named          by kernel
    """

    study: Annotated[Plain, "what the study's file says"]
    figures: Annotated[Sequence[str], "the list of figures"]
    widths: Annotated[Sequence[str | float], "the widths of the figures"]
    font: Annotated[str, "the font of the figures"]
    formats: Annotated[Sequence[str], "the formats of the figures"]
    definitions: Annotated[Plain, "the definitions of the metrics"]
    found_metrics: Annotated[Mapping[str, str], "the files with metrics"]
    accesses: Annotated[Mapping[int, Plain], "the pictures of the kernels' accesses"]
    named: Annotated[Mapping[str, Sequence[str]], "the kernels that a story names"]
    edited: Annotated[Sequence[str], "the list of kernels edited since the recording"]
    gridded: Annotated[Sequence[str], "the kernels whose number of blocks the sweep chooses"]


@dataclass(frozen=True)
class StoryPlan:
    """A job that shows the comments before kernels' code, and all else that it reads."""


@dataclass(frozen=True)
class ScopePlan:
    """What the judgements on a scope's results depend on.

    studies        the settings of each study that judgements depend on
    measurements   by study, as gridded
    uncertainties  by metric, how far its value may lie from run to run, as a fraction; 0 for counts
    kernels        of the run (judge.data.row_counts.PlannedKernel)
    store          of sources, by their hashes
    """

    studies: Annotated[Mapping[str, Plain], "what the studies' files say"]
    measurements: Annotated[Mapping[str, Sequence[str]], "the list of files with points"]
    gridded: Mapping[str, Sequence[str]]
    uncertainties: Annotated[Mapping[str, float], "the uncertainties of the metrics"]
    found_metrics: Mapping[str, str]
    kernels: Sequence[Plain]
    edited: Sequence[str]
    page: Annotated[str, "the place of the page"]
    store: str


@dataclass(frozen=True)
class PagePlan:
    """What a page shows besides results, of each of the scope's studies in their order."""

    title: Annotated[str, "the title of the page"]
    index: Annotated[str, "the place of the page of all pages"]
    studies: Mapping[str, Plain]


@dataclass(frozen=True)
class ViewPlan:
    """A view of the explorer, by its address, which is drawn for a paper."""

    study: Plain
    edited: Sequence[str]
    gridded: Sequence[str]
    view: Annotated[str, "the view of the explorer"]
    width: Annotated[str | float, "the width of the figure"]
    font: str


@dataclass(frozen=True)
class ComparisonPlan:
    """What is compared.

    results         the folder with the journals, which hold earlier measurements
    sizes           by study
    explored        what the explorer needs to know of each study
    never_measured  these kernels are left out, because they have no earlier version
    others          these studies have been measured, but the run was not asked for them
    pictured        by kernel (study/kernel), the step, and its point in words
    """

    compare: Annotated[Plain, "the settings of compare"]
    results: Annotated[str, "the place of the results"]
    sizes: Annotated[Mapping[str, Sequence[str]], "the axes of size"]
    store: str
    explored: Annotated[Mapping[str, Plain], "what the studies' files say"]
    index: str
    never_measured: Annotated[int, "the number of kernels that were never measured"]
    others: Annotated[Sequence[str], "measured studies that are not compared"]
    pictured: Annotated[Mapping[str, Sequence[str]], "the steps whose accesses are drawn, and where"]


@dataclass(frozen=True)
class GradePlan:
    """How candidates are judged.

    candidates  by name: their file, why it is refused, and what reading it has found
    drawn       as the values of their axes: nobody knows these points
    journals    of those that are timed, by name
    """

    of_study: Annotated[str, "the study of the candidates"]
    against: str
    candidates: Annotated[Mapping[str, Plain], "the candidates"]
    drawn: Annotated[Sequence[Plain], "the points that were drawn by lot"]
    journals: Annotated[Mapping[str, str], "the places of the journals"]
    sizes: Sequence[str]
    margin: Annotated[float, "same_within"]
    index: str


# Each parameter of a job, and each field of a plan, in words.
IN_WORDS = {"plan": "the kind of job", "code_of_kernelsweep": "the code of kernelsweep"}
for _plan in filter(is_dataclass, [*globals().values()]):
    _hints = get_type_hints(_plan, include_extras=True)
    IN_WORDS |= {name: hint.__metadata__[0] for name, hint in _hints.items() if get_origin(hint) is Annotated}
