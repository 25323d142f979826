# What the rules share: the library, the checked configuration, and functions from wildcards to inputs and parameters.

import functools
import sys
from dataclasses import asdict
from pathlib import Path

from snakemake.exceptions import WorkflowError

ROOT = Path(workflow.basedir)
sys.path.insert(0, str(ROOT / "workflow/scripts"))

from kernelsweep.configuration import EMULATOR, kernel_axes, kernel_points, load_config, load_study, study_names
from kernelsweep.errors import UserError
from kernelsweep.fingerprint import code_hash, imported_modules
from kernelsweep.kernel_source import included_files
from kernelsweep.platforms.detect import choose_platforms
from kernelsweep.sweep import instantiations

try:
    config.update(load_config(config, ROOT))
    STUDIES = {name: load_study(name, ROOT) for name in study_names(ROOT)}
    PLATFORMS, GPU = choose_platforms(config["platform"], ROOT)
except UserError as error:
    raise WorkflowError(str(error)) from None

# The figures a study has. Those that show times are left out where a platform has no clock.
FIGURES_OF_TIMES = ["ladder", "bandwidth", "block_unroll"]
FIGURES = ["correctness", *FIGURES_OF_TIMES]

# The platforms that are measured, unlike recordings.
LIVE = r"(?!recording/)[^/]+"


wildcard_constraints:
    platform=r"recording/[^/]+|[^/]+",
    study=r"[^/]+",
    kernel=r"[^/]+",
    target=r"[^/]+",
    figure="|".join(FIGURES),


def is_recording(platform):
    return platform.startswith("recording/")


def build_target(platform):
    """What a platform's binaries are compiled for: an architecture, or the emulator."""
    if platform == EMULATOR:
        return EMULATOR
    return GPU.arch if config["arch"] == "native" else config["arch"]


def binary(study, kernel):
    """A kernel's binary for the target `build`: for the architecture given, else for what the platform needs."""
    if config["arch"] != "native":
        target = config["arch"]
    else:
        target = build_target(next((p for p in PLATFORMS if not is_recording(p)), EMULATOR))
    return f"results/build/{target}/{study}/{kernel}.bin"


@functools.cache
def code_of(name):
    """A hash of a file in workflow/scripts/ and the library code that it imports, to run jobs again that depend on it.

    Comments don't count. (Snakemake itself sees that a job's script is new, but not what the script imports.)
    """
    scripts = ROOT / "workflow/scripts"
    return code_hash([scripts / name, *imported_modules(scripts / name, scripts / "kernelsweep")])


def included(wildcards):
    source = ROOT / "kernels" / wildcards.study / f"{wildcards.kernel}.cu"
    return [str(path.relative_to(ROOT)) for path in included_files(source, ROOT / "kernels/include")]


def emulator_headers(wildcards):
    """The emulator's sources, for what is compiled against them."""
    headers = (ROOT / "workflow/emulator").glob("*.hpp") if wildcards.target == EMULATOR else []
    return sorted(str(path.relative_to(ROOT)) for path in headers)


def variants(wildcards):
    """The C++ names of the variants that a kernel's sweep runs."""
    study = STUDIES[wildcards.study]
    platform = EMULATOR if wildcards.target == EMULATOR else GPU.platform if GPU else "gpu"
    run = [point for point, reason in kernel_points(config, study, wildcards.kernel, platform) if not reason]
    return instantiations(study.kernels[wildcards.kernel], run)


def built(extension):
    """The input function for a kernel's binary or build report on a platform."""

    def path(wildcards):
        target = build_target(wildcards.platform)
        return f"results/build/{target}/{wildcards.study}/{wildcards.kernel}.{extension}"

    return path


def axes(wildcards):
    return kernel_axes(config, STUDIES[wildcards.study], wildcards.kernel, wildcards.platform)


def restrictions(wildcards):
    return [*config["restrictions"], *STUDIES[wildcards.study].settings["restrictions"]]


def parts(folder, platform, studies):
    """The files of one kernel each that hold a platform's results, such as points or builds."""
    return [
        f"results/{platform}/{folder}/{study}/{kernel}.csv" for study in studies for kernel in STUDIES[study].kernels
    ]


def study_measurements(wildcards):
    """What a study's table and figures are drawn from: its kernels' points, or the recording's measurements."""
    if is_recording(wildcards.platform):
        return [f"results/{wildcards.platform}/measurements.csv"]
    return parts("points", wildcards.platform, [wildcards.study])


def published_file(wildcards):
    published = STUDIES[wildcards.study].settings["published"]
    return [f"resources/published/{published['file']}"] if published else []


def published_files(platform, studies):
    """All that is made for a reader: tables and figures of these studies."""
    figures = ["correctness"] if platform == EMULATOR else FIGURES
    return [
        f"results/{platform}/studies/{study}/{name}"
        for study in studies
        for name in [
            *(f"table.{extension}" for extension in ("md", "csv", "tex")),
            *(f"figures/{figure}.{extension}" for figure in figures for extension in ("svg", "png", "pdf")),
        ]
    ]


def verdict(platform, study=None):
    """The last of a platform's files, for one study or for all that the configuration names."""
    return f"results/{platform}/studies/{study}/.verdict" if study else f"results/{platform}/.verdict"
