"""Which files each target of the Snakefile asks for.

Each raises UserError where this run can't make them, with what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from kernelsweep.device.kinds import kind_of
from kernelsweep.device.names import is_recording
from kernelsweep.errors import UserError, check_known
from kernelsweep.home import COMMAND
from kernelsweep.observe.requests import observed_platforms
from kernelsweep.project import building, inputs
from kernelsweep.project.files import OTHERS, RESULTS, parts_of, path, scope_of
from kernelsweep.project.project import Project
from kernelsweep.publish.view_address import picture_in, platform_in, read_view, view_name
from kernelsweep.study.kernels.units import EMULATOR

# What `snakemake help` says of each target but the studies.
_HELP = {
    "all": "every study: checked, timed on a GPU, drawn; what to use",
    "compare": "what an edit did, against each kernel's version before it",
    "prove": "checks alone: races, bounds, barriers, uninitialised reads",
    "count": "memory accesses, counted on the emulator, and the checks",
    "profile": "hardware counters by Nsight Compute; needs a GPU",
    "sanitize": "NVIDIA's compute-sanitizer; needs a GPU",
    "grade": "a stranger's kernel: --config candidate=x.cu study=matmul",
    "figure": "a view of the explorer as PDF: --config view='<address>'",
    "header": "the best configurations as constants for C++",
    "build": "compile only, for a GPU that is not here: --config arch=sm_90",
}


def help_text(project: Project) -> str:
    """The targets, a line each: `snakemake help`."""
    titles = {name: study.settings.title for name, study in project.studies.items()}
    widest = max(map(len, [*_HELP, *titles]))
    lines = [f"  {name:<{widest}}  {words}" for name, words in _HELP.items()]
    of_studies = [f"  {name:<{widest}}  {title.partition(': ')[2] or title}" for name, title in titles.items()]
    return "\n".join(["Targets:", *lines, "", "One study:", *of_studies, "", "With -n: what would run."])


def ends(project: Project, asked: Iterable[str]) -> list[str]:
    """The folders of the answers with which a run of these targets ends.

    Those with times come first, studies in the order of the configuration.
    """
    made = {"all": everything, "compare": compare, "grade": grade, "prove": prove, "count": count, "sanitize": sanitize}
    files: list[str] = []
    studies = [*project.studies]
    for target in sorted(asked, key=lambda target: studies.index(target) if target in studies else -1):
        files += made[target](project) if target in made else []
        files += study(project, target) if target in project.studies else []
    folders = [file.removeprefix(f"{RESULTS}/")[: -len("/.verdict")] for file in files if file.endswith("/.verdict")]
    return sorted(folders, key=lambda folder: not kind_of(folder.partition("/")[0]).has_clock)


def everything(project: Project) -> list[str]:
    """The target `all`."""
    made = [file for platform in project.platforms for file in _results(project, platform)]
    for platform in project.platforms:
        if inputs.made_metrics(project, platform) == inputs.kernel_metrics(project, platform):
            made.append(path("metrics", platform=platform))
    made += [path("left_out", study=name) for name in project.left_out]
    return made


def study(project: Project, name: str) -> list[str]:
    """The target of a study; of one with a mistake, the job that fails with it."""
    if name in project.mistakes:
        return [path("left_out", study=name)]
    platforms = [platform for platform in project.platforms if project.can_have(platform, name)]
    scopes = [scope_of(platform, name) for platform in platforms or project.platforms]
    return [file for scope in scopes for file in _results(project, scope)]


def _results(project: Project, scope: str) -> list[str]:
    """The mark that ends a scope's run, and every file that a user sees.

    Snakemake makes a deleted file again only if a target names it.
    """
    platform, study = parts_of(scope)
    made = [path("end", folder=scope), *(path(name, scope=scope) for name in ("page", "summary"))]
    made += [path("claims", scope=scope, suffix=suffix) for suffix in ("md", "csv")]
    made += [path("best", scope=scope, suffix=suffix) for suffix in ("md", "json")]
    made += [*inputs.tables_and_figures(project, scope), *inputs.accesses(project, scope)]
    if not study and is_recording(platform):  # The page of all pages shows what else was recorded.
        others = scope_of(platform, OTHERS)
        made += [path("status", scope=others)] if project.studies_of(others) else []
    if not study:
        made += [path(name, platform=platform) for name in ("measurements", "builds", "environment")]
    if not is_recording(platform):
        made += [*inputs.proofs(project, scope), *([] if study else [path("proofs", platform=platform)])]
        made += [*inputs.points(project, scope), *inputs.of_kernels(project, scope, "samples")]
        made += inputs.of_kernels(project, scope, "kernel_builds")
        # No other job reads these, so that a new check is no reason to measure again. Their priority puts them first.
        made += [path("checked_problem", study=name) for name in project.studies_of(scope)]
    return made


def build(project: Project) -> list[str]:
    """Every kernel's binaries, for the architecture that the configuration names or for the run's platforms.

    And the mark that all of it compiles.
    """
    if project.config.arch == "native":
        measured = [platform for platform in project.platforms if not is_recording(platform)]
        targets = [project.target(platform) for platform in measured] or [EMULATOR]
    else:
        targets = [project.config.arch]
    wanted = list(dict.fromkeys(targets))
    binaries = [binary for target in wanted for binary in inputs.builds(project, target, "bin")]
    return [*binaries, *(path("build_end", target=target) for target in wanted)]


def compare(project: Project) -> list[str]:
    """The comparison that the configuration asks for."""
    platform = project.platforms[0]
    inputs.compared_with(project, platform)  # If the comparison exists, Snakemake doesn't ask for them.
    shown = ("comparison.md", "comparison.html", "comment.md", "comparison.csv", "comparison.json", ".verdict")
    return [path("comparison", platform=platform, file=name) for name in shown]


def grade(project: Project) -> list[str]:
    """The verdicts on the candidates that the configuration names."""
    if not project.grading:
        raise UserError(f"Name a kernel's file and a study: {COMMAND} grade --config candidate=x.cu study=<study>.")
    shown = ("verdict.json", "verdicts.jsonl", "grade.html", ".verdict")
    return [path("grade", platform=project.platforms[0], file=name) for name in shown]


def profile(project: Project) -> list[str]:
    """The metrics of every GPU."""
    platforms = observed_platforms(list(project.models), project.platforms, "The target profile")
    return [path("metrics", platform=platform) for platform in platforms]


def prove(project: Project) -> list[str]:
    """The proofs of every kernel on the platforms that are measured here, and the mark that they found nothing."""
    platforms = [platform for platform in project.platforms if not is_recording(platform)] or [EMULATOR]
    return [
        file
        for platform in platforms
        for file in (path("proofs", platform=platform), path("end", folder=f"{platform}/proofs"))
    ]


def count(project: Project) -> list[str]:
    """The emulator's counts and proofs."""
    return [path("metrics", platform=EMULATOR), path("end", folder=f"{EMULATOR}/proofs")]


def sanitize(project: Project) -> list[str]:
    """compute-sanitizer's verdict on every GPU's kernels."""
    platforms = observed_platforms(list(project.models), project.platforms, "The target sanitize")
    return [path("end", folder=f"{platform}/sanitizer") for platform in platforms]


def header(project: Project) -> list[str]:
    """The C++ header of each study's best configurations, where its kernels do the same work and there are times."""
    studies = [name for name in project.config.studies if project.studies[name].compares_times]
    return [
        path("constants", platform=platform, study=name)
        for platform in _timed(project, "header")
        for name in studies
        if project.can_have(platform, name)
    ]


def figure(project: Project) -> list[str]:
    """The figure of the explorer's view, or of the picture of accesses, that the configuration names."""
    if not (address := project.config.view):
        example = f"{COMMAND} figure --config view='explorer?study={next(iter(project.studies))}' width=3.3"
        raise UserError(f"Name a view, as the address of a page has it with its explorer open: {example}")
    picture = picture_in(address)
    view = {} if picture else read_view(address)
    study, step = picture or (view["study"], "")
    check_known(study, project.studies, "view: there is no study")
    if picture:
        steps = [one.name for one in building.accesses(project, study)]
        check_known(step, steps, f"view: of {study}, there is no step")
        return [path("picture", study=study, name=step, suffix="pdf")]
    platform = platform_in(address) or _timed(project, "figure")[-1]
    return [path("view", platform=platform, study=study, name=view_name(view), suffix="pdf")]


def _timed(project: Project, target: str) -> list[str]:
    """The platforms with times. Raises UserError if there are none."""
    timed = [platform for platform in project.platforms if kind_of(platform).has_clock]
    if not timed:
        raise UserError(f"The target {target} needs times, and the emulator has none: name another platform.")
    return timed
