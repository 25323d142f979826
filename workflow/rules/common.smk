# What the rules share: the library, the checked configuration, and functions from wildcards to inputs and parameters.

import functools
import json
import math
import os
import sys
from dataclasses import asdict
from pathlib import Path

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger
from snakemake.settings.types import DeploymentMethod

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "workflow/scripts"))

from kernelsweep.share.reduce_header.offered import is_offered
from kernelsweep.measure.chunks import chunk_count, most_points
from kernelsweep.judge.comparison.which_files import (
    NOW,
    PREVIOUS,
    check_sides,
    compared_platform,
    folder_of,
    side_files,
)
from kernelsweep.sweep.study import (
    EMULATOR,
    EXCHANGE,
    check_metrics,
    kernel_axes,
    kernel_variants,
    load_config,
    load_study,
    metrics_of,
    rival_axes,
    study_names,
    uncertainties,
)
from kernelsweep.observe.counting.selection import checked_points, counted_points, drawn_point
from kernelsweep.errors import UserError
from kernelsweep.publish.figures import FIGURES_OF_TIMES
from kernelsweep.code_hash import code_hash, imported_modules, sha256_of
from kernelsweep.sweep.kernel_source import COUNTING_TARGET, included_files
from kernelsweep.publish.page.chapters import CHAPTERS
from kernelsweep.platforms.choose import choose_platforms, left_out, recordings
from kernelsweep.platforms.emulator import MULTIPROCESSORS
from kernelsweep.sweep.launch_plans import PLANS_WITH_A_GRID
from kernelsweep.observe.profiling import profiled_platforms
from kernelsweep.results import DRIVER_LIMITS
from kernelsweep.baselines.libraries import RIVALS
from kernelsweep.sweep.points import instantiations
from kernelsweep.project.resources import measuring_minutes, profiling_minutes, sanitizing_minutes


def jobs_bring_pycuda():
    """Whether jobs run in the environments of envs/ (snakemake --sdm conda), which have PyCUDA if this one does or not."""
    settings = workflow.deployment_settings
    return settings is not None and DeploymentMethod.CONDA in settings.deployment_method


try:
    config.update(load_config(config, ROOT))
    STUDIES = {name: load_study(name, ROOT) for name in study_names(ROOT)}
    for study in STUDIES.values():
        check_metrics(config, study)
    PLATFORMS, MODELS = choose_platforms(config["platform"], ROOT, config["gpu_models"], jobs_bring_pycuda())
    if config["profile"]:
        profiled_platforms(list(MODELS), PLATFORMS, "profile: true")
except UserError as error:
    raise WorkflowError(str(error)) from None
if MODELS and workflow.is_main_process and (unused := left_out(PLATFORMS)):
    logger.info(unused)

# Snakemake itself would answer with a traceback.
if os.path.lexists("results") and not os.path.isdir("results"):
    raise WorkflowError(
        f"{os.path.abspath('results')} is not a folder. Move it away: results are generated in its place."
    )


onstart:
    # Not of a dry run, which may look into results that belong to somebody else.
    if os.path.isdir("results") and not os.access("results", os.W_OK | os.X_OK):
        raise WorkflowError(
            f"{os.path.abspath('results')} can't be written to. Make the folder writable for you, or move it away, and "
            "type the same command again: what is already there is kept."
        )


# The platforms that are measured, unlike recordings.
LIVE = r"(?!recording/)[^/]+"
# Of these, the GPUs.
TIMED = rf"(?!recording/|{EMULATOR}/)[^/]+"


# The priority of what all measuring waits for, whose jobs have their numbers of points for theirs.
FIRST = config["points_per_job"] + 1


wildcard_constraints:
    platform=r"recording/[^/]+|[^/]+",
    study=r"[^/]+",
    kernel=r"[^/]+",
    target=r"[^/]+",
    chunk=r"[1-9][0-9]*",
    chunks=r"[1-9][0-9]*",


def is_recording(platform):
    return platform.startswith("recording/")


def build_target(platform):
    """What a platform's binaries are compiled for: an architecture, or the emulator."""
    if platform == EMULATOR:
        return EMULATOR
    return MODELS[platform].arch if config["arch"] == "native" else config["arch"]


def binaries(study, kernel):
    """A kernel's binaries for the target `build`: for the architecture given, else for what the platforms need."""
    if config["arch"] != "native":
        targets = [config["arch"]]
    else:
        targets = [build_target(platform) for platform in PLATFORMS if not is_recording(platform)] or [EMULATOR]
    return [f"results/build/{target}/{study}/{kernel}.bin" for target in dict.fromkeys(targets)]


@functools.cache
def code_of(name):
    """A hash of a file in workflow/scripts/ and the library code that it imports, to run jobs again that depend on it.

    Comments don't count. (Snakemake itself sees that a job's script is new, but not what the script imports.)
    """
    scripts = ROOT / "workflow/scripts"
    return code_hash([scripts / name, *imported_modules(scripts / name, scripts / "kernelsweep")])


def kernel_file(wildcards):
    return str(STUDIES[wildcards.study].kernels[wildcards.kernel].path.relative_to(ROOT))


def included(wildcards):
    return included_by(kernel_file(wildcards))


# Every job of a kernel asks, and there may be a thousand of them.
@functools.cache
def included_by(kernel):
    files = included_files(ROOT / kernel, ROOT / "kernels/include")
    return [str(path.relative_to(ROOT)) for path in files]


def counting_points(wildcards):
    """A kernel's points to count, to check for mistakes, and to draw."""
    study, kernel = STUDIES[wildcards.study], wildcards.kernel
    axes = kernel_axes(config, study, kernel, COUNTING_TARGET)[0]
    devices = [MULTIPROCESSORS, *map(recorded_multiprocessors, profiled_recordings())]
    own, *others = [counted_points(study, kernel, axes, count, restrictions(wildcards)) for count in devices]
    drawn = drawn_point(study, kernel, own)
    return (
        list(dict.fromkeys(sum(others, own))),
        checked_points(own, study.kernels[kernel].plan),
        [drawn] if drawn else [],
    )


def profiled_recordings():
    """The recordings that have counters, the newest first: what counts are held against."""
    names = recordings(ROOT)
    return [name for name in names if (ROOT / f"resources/recordings/{name}/metrics.csv.gz").is_file()]


def comparisons(wildcards):
    """The pages that hold counts against the counters of recordings."""
    names = profiled_recordings()
    if not names:
        raise WorkflowError(
            "No recording in resources/recordings/ has counters (metrics.csv.gz) to hold counts against."
        )
    return [f"docs/{name}/counted.md" for name in names]


def recorded_multiprocessors(name):
    """How many multiprocessors a recording's GPU had, which some launches take their grid from."""
    environment = json.loads((ROOT / f"resources/recordings/{name}/environment.json").read_text())
    return environment["device"]["multiprocessors"]


def comparison_verdict():
    """The last of the comparison's files."""
    before, after = config["compare"]["before"], config["compare"]["after"]
    platform = compared_platform(after, PLATFORMS)
    try:
        check_sides(before, after, platform)
        # Here, not only where they are read: with an older comparison there, Snakemake would be content with that.
        for side in {before, after} - {PREVIOUS, NOW}:
            side_files(side, config["studies"])
    except UserError as error:
        raise WorkflowError(str(error)) from None
    return f"results/{platform}/comparison/.verdict"


def compared_files(side):
    """The input function for a side's measurements; what is measured now is brought up to date first."""

    def paths(wildcards):
        named = config["compare"][side]
        if named == PREVIOUS:
            return []
        if named != NOW:
            return side_files(named, config["studies"])
        if is_recording(wildcards.platform):
            return [f"results/{wildcards.platform}/measurements.csv"]
        return kernel_parts("points", wildcards.platform, config["studies"])

    return paths


def emulator_headers(wildcards):
    """The emulator's sources, for what is compiled against them."""
    return every_emulator_header() if wildcards.target in (EMULATOR, COUNTING_TARGET) else []


@functools.cache
def every_emulator_header():
    return sorted(str(path.relative_to(ROOT)) for path in (ROOT / "workflow/emulator").glob("**/*.hpp"))


def variants(wildcards):
    """The C++ names of the variants that a kernel's sweep runs, or that are counted."""
    study = STUDIES[wildcards.study]
    if wildcards.target == COUNTING_TARGET:
        run = [point for points in counting_points(wildcards) for point in points]
        return instantiations(study.kernels[wildcards.kernel], run)
    of_platforms = [
        kernel_variants(config, study, wildcards.kernel, platform, arch=wildcards.target)
        for platform in platforms_of_target(wildcards.target)
    ]
    return sorted(set().union(*of_platforms))


def platforms_of_target(target):
    """The platforms whose sweeps a binary is built for: models can have the architecture in common."""
    if target == EMULATOR:
        return [EMULATOR]
    return [platform for platform in MODELS if build_target(platform) == target] or ["gpu"]


def built(extension):
    """The input function for a kernel's binary or build report on a platform."""

    def path(wildcards):
        target = build_target(wildcards.platform)
        return f"results/build/{target}/{wildcards.study}/{wildcards.kernel}.{extension}"

    return path


def axes(wildcards):
    return kernel_axes(config, STUDIES[wildcards.study], wildcards.kernel, wildcards.platform)


@functools.cache
def spanned_points(study, kernel, platform):
    """How many points a kernel's axes span on a platform, those that are skipped included."""
    return most_points(kernel_axes(config, STUDIES[study], kernel, platform))


def chunks_of_kernel(wildcards):
    """What the chunks leave that a kernel's sweep is cut into; nothing where one job does all of it."""
    count = chunk_count(spanned_points(wildcards.study, wildcards.kernel, wildcards.platform), config["points_per_job"])
    folder = f"results/{wildcards.platform}/chunks/{wildcards.study}/{wildcards.kernel}"
    return [f"{folder}/{chunk}-of-{count}.json" for chunk in range(1, count + 1)] if count > 1 else []


def points_of_job(wildcards):
    """How many points a job measures, at most: all of the kernel's, or a chunk's. Its priority, too."""
    points = spanned_points(wildcards.study, wildcards.kernel, wildcards.platform)
    if "chunks" in wildcards.keys():
        return math.ceil(points / int(wildcards.chunks))
    return points if points <= config["points_per_job"] else 0


def points_of_rival(wildcards):
    """The same of what is measured beside the kernels of a study."""
    return most_points(rival_axes(config, STUDIES[wildcards.study], wildcards.platform))


def profiled_points(wildcards):
    """How many points of a kernel are profiled, at most."""
    settings = STUDIES[wildcards.study].settings
    return sum(step["kernel"] == wildcards.kernel for step in (*settings["ladder"], *settings["profiled"]))


def where_points_run(minutes=lambda wildcards: measuring_minutes(0, config["measuring"])):
    """What a job asks a cluster for that has to be where a platform's points run; without a cluster, nothing waits for it.

    minutes  a function of the wildcards, for what takes longer the more points it has

    That is a GPU, unless the points are emulated; its time, and more of it at each attempt; and what config.yaml adds for
    the GPU's model.
    """

    def resource(name):
        def asked(wildcards, attempt):
            own = config["gpu_models"].get(wildcards.platform, {}).get("resources", {})
            if name in own:
                return own[name]
            if name == "runtime":
                return minutes(wildcards) * attempt
            return 1 if name == "gpu" and wildcards.platform != EMULATOR else None

        return asked

    added = {name for model in config["gpu_models"].values() for name in model["resources"]}
    return {name: resource(name) for name in sorted({"gpu", "runtime", *added})}


def restrictions(wildcards):
    return [*config["restrictions"], *STUDIES[wildcards.study].settings["restrictions"]]


def is_counted(platform):
    """Whether a platform's metrics are what the emulator counts, not Nsight Compute's."""
    return platform == EMULATOR


def metric_parts(platform, studies):
    """The files that hold a platform's metrics, one a kernel."""
    return parts("counts" if is_counted(platform) else "metrics", platform, studies)


def kernel_parts(folder, platform, studies):
    """The files that hold a platform's results, such as points or builds: one a kernel."""
    return [
        f"results/{platform}/{folder}/{study}/{kernel}.csv" for study in studies for kernel in STUDIES[study].kernels
    ]


def parts(folder, platform, studies):
    """The same, with the points of what is measured beside the kernels."""
    return kernel_parts(folder, platform, studies) + (
        beside_the_kernels(platform, studies) if folder == "points" else []
    )


def beside_the_kernels(platform, studies):
    """The files of what is measured beside the studies' kernels: baselines, rivals, and the driver's copy and fill.

    Beside emulated points their times would say nothing.
    """
    if platform == EMULATOR:
        return []
    settings = {study: STUDIES[study].settings for study in studies}
    return [
        *(f"results/{platform}/baselines/{study}.csv" for study in studies if settings[study]["baselines"]),
        *(f"results/{platform}/rivals/{study}/{rival}.csv" for study in studies for rival in settings[study]["rivals"]),
        *(f"results/{platform}/limits/{study}.csv" for study in studies if driver_limits(study)),
    ]


def driver_limits(study):
    """Which of the driver's copy and fill are limits of a study."""
    return [name for name in STUDIES[study].settings["limits"] if name in DRIVER_LIMITS]


def study_measurements(wildcards):
    """What a study's table and figures are drawn from: the points measured for it, or the recording's measurements."""
    return measurement_files(wildcards.platform, [wildcards.study])


def all_measurements(wildcards):
    """The same of all studies that the configuration names."""
    return measurement_files(wildcards.platform, config["studies"])


def measurement_files(platform, studies):
    """The same of some studies."""
    return [f"results/{platform}/measurements.csv"] if is_recording(platform) else parts("points", platform, studies)


def files_by_study(platform, studies):
    """The same, each study's, so that no more than one study's rows need be read at once."""
    return {study: measurement_files(platform, [study]) for study in studies}


def to_profile(asked_by):
    """The GPUs' platforms, for what asks to have them profiled."""
    return profiled_platforms(list(MODELS), PLATFORMS, asked_by)


def metric_definitions(study):
    """The metrics that are collected for a study, as the configuration defines them."""
    return metrics_of(config, STUDIES[study])


def metrics_to_come(platform, studies):
    """The files of metrics that are made before tables and figures are: a recording's, or those that are asked for.

    Of the emulator, those that were counted before: where they are there, they follow every edit, as its points do.
    """
    if is_recording(platform):
        packed = f"resources/recordings/{platform.removeprefix('recording/')}/metrics.csv.gz"
        return [f"results/{platform}/metrics.csv"] if os.path.isfile(packed) else []
    of_kernels = metric_parts(platform, studies)
    if is_counted(platform):
        return [path for path in of_kernels if os.path.isfile(path)]
    return of_kernels if config["profile"] else []


def metrics_there(platform, studies):
    """The files of metrics that are there anyhow, each with its content's hash: shown, but neither made nor renewed."""
    if metrics_to_come(platform, studies) or is_recording(platform):
        return {}
    return {path: sha256_of(path) for path in metric_parts(platform, studies) if os.path.isfile(path)}


def joined_metrics(platform):
    """A platform's metrics.csv, where every kernel's part of it is made in this run."""
    complete = metrics_to_come(platform, config["studies"]) == metric_parts(platform, config["studies"])
    return [f"results/{platform}/metrics.csv"] if complete else []


# The chapters after the studies (kernelsweep/publish/page/chapters.py) whose files are made before the page is, of all studies and
# of one. The others are of all studies, and are shown where they are there.
MADE_CHAPTERS = ["claims", "best"]


def made_chapters(folder):
    """The files of the chapters that are made before the page is."""
    return [f"{folder}/{file}" for name in MADE_CHAPTERS for file in CHAPTERS[name].files]


def chapters_there(folder):
    """The files of the other chapters that are there anyhow, each with its content's hash."""
    files = [f"{folder}/{file}" for name in CHAPTERS if name not in MADE_CHAPTERS for file in CHAPTERS[name].files]
    return {path: sha256_of(path) for path in files if os.path.isfile(path)}


def page_studies(platform, names):
    """What the page says of studies besides their results, in their order."""
    return {
        name: {
            "title": STUDIES[name].settings["title"],
            "description": STUDIES[name].settings["description"],
            "figures": study_figures(platform, name),
            "file": f"config/studies/{name}.yaml",
            "kernels": [str(kernel.path.relative_to(ROOT)) for kernel in STUDIES[name].kernels.values()],
        }
        for name in names
    }


def page_metrics(platform, studies):
    """Where a reader finds the metrics that figures are drawn from: one file, or the folder of one a kernel."""
    if studies == config["studies"] and joined_metrics(platform):
        return joined_metrics(platform)
    files = [*metrics_to_come(platform, studies), *metrics_there(platform, studies)]
    return files if len(files) < 2 else [os.path.commonpath(files)]


def published_file(wildcards):
    published = STUDIES[wildcards.study].settings["published"]
    return [f"resources/published/{published['file']}"] if published else []


def study_figures(platform, study):
    """A study's figures; those that show times are left out where the platform has no clock."""
    figures = ["correctness", *STUDIES[study].settings["figures"]]
    return [figure for figure in figures if platform != EMULATOR or figure not in FIGURES_OF_TIMES]


def published_files(platform, studies):
    """All that is made for a reader: tables and figures of these studies."""
    return [
        f"results/{platform}/studies/{study}/{name}"
        for study in studies
        for name in ("table.md", "table.csv", "table.tex", "figures")
    ]


def shown_settings(wildcards):
    """What a study's table and figures have to know of it: all but its claims, which are judged on their own."""
    return {key: value for key, value in STUDIES[wildcards.study].settings.items() if key != "claims"}


def judged_settings(studies):
    """What the judge of claims has to know of these studies."""
    keys = ("title", "problem", "kernels", "reference", "ladder", "claims")
    return {study: {key: STUDIES[study].settings[key] for key in keys} for study in studies}


def raced_settings(studies):
    """What is needed of these studies to find their fastest points, without those whose kernels are no rivals."""
    keys = ("title", "kernels", "reference")
    raced = [study for study in studies if STUDIES[study].settings["problem"] != EXCHANGE]
    return {study: {key: STUDIES[study].settings[key] for key in keys} for study in raced}


def gridded_kernels(studies):
    """By study, the kernels whose number of blocks is the sweep's choice."""
    return {
        study: [name for name, kernel in STUDIES[study].kernels.items() if kernel.plan in PLANS_WITH_A_GRID]
        for study in studies
    }


def plan_of(platform, studies):
    """The kernels of these studies with their axes, against which a run's rows are counted."""
    return [
        {
            "study": study,
            "kernel": name,
            "launch_plan": kernel.plan,
            "axes": None if is_recording(platform) else kernel_axes(config, STUDIES[study], name, platform),
            "has_header": kernel.has_header,
            "file": f"results/{platform}/points/{study}/{name}.csv",
            "cannot_run": None if is_recording(platform) else kernel.unsupported_on(build_target(platform)),
        }
        for study in studies
        for name, kernel in STUDIES[study].kernels.items()
    ]


def judgements(folder):
    """What is made of the times and metrics of all studies, or of one: verdicts on claims, and best configurations."""
    chapters = [CHAPTERS[name] for name in MADE_CHAPTERS]
    return [f"{folder}/{file}" for chapter in chapters for file in (*chapter.files, chapter.data)]


def end_of_run(platform, study=None):
    """The files that end a platform's run, for one study or for all that the configuration names.

    Snakemake makes a deleted file again only where a target names it, so every file that a user sees is among them.
    """
    folder = f"results/{platform}/studies/{study}" if study else f"results/{platform}"
    studies = [study] if study else config["studies"]
    shown = [f"{folder}/report.html", f"{folder}/summary.md", *judgements(folder), *published_files(platform, studies)]
    if not study:
        shown += [f"{folder}/{name}" for name in ("measurements.csv", "builds.csv", "environment.json")]
    if not is_recording(platform):
        shown += parts("points", platform, studies)
        shown += kernel_parts("samples", platform, studies) + kernel_parts("builds", platform, studies)
    return [f"{folder}/.verdict", *shown]


def others_measured():
    """The platforms of GPUs that have results here from earlier runs: shown, but neither made nor renewed."""
    descriptions = [json.loads(path.read_text()) for path in sorted(Path("results").glob("*/device.json"))]
    return [
        device["platform"]
        for device in descriptions
        if device["kind"] == "gpu"
        and device["platform"] not in MODELS
        and os.path.isfile(f"results/{device['platform']}/measurements.csv")
    ]


def compared_measurements():
    """The measurements of every device by platform, this run's first, then the newest recording's."""
    live = {platform: f"results/{platform}/measurements.csv" for platform in (*MODELS, *others_measured())}
    return live | {f"recording/{name}": f"resources/recordings/{name}/measurements.csv.gz" for name in recordings(ROOT)}


def judged_claims():
    """The claims by platform: this run's own GPUs', which are made before, and those that were judged earlier."""
    files = {platform: f"results/{platform}/claims.csv" for platform in compared_measurements()}
    return {platform: path for platform, path in files.items() if platform in MODELS or os.path.isfile(path)}


# The studies that have kernels that a header can offer, whether `all` runs them or not.
EXPORTED = [study for study in STUDIES if any(map(is_offered, STUDIES[study].kernels.values()))]


def headers():
    """The headers of the platforms that have times."""
    timed = [platform for platform in PLATFORMS if platform != EMULATOR]
    if not timed:
        raise WorkflowError("The target header needs times, which the emulator has none of: name another platform.")
    return [f"results/{platform}/best/reduce.cuh" for platform in timed]


def exported_measurements(wildcards):
    """What a header is chosen from: a recording's rows, or these studies' points, which are measured first."""
    if is_recording(wildcards.platform):
        return [f"results/{wildcards.platform}/measurements.csv"]
    return kernel_parts("points", wildcards.platform, EXPORTED)


def exported_sources():
    """The files of the studies' kernels, and what these include."""
    kernels = [kernel.path for study in EXPORTED for kernel in STUDIES[study].kernels.values()]
    files = {file for path in kernels for file in (path, *included_files(path, ROOT / "kernels/include"))}
    return sorted(str(path.relative_to(ROOT)) for path in files)
