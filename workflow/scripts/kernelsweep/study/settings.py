"""The records of config/config.yaml and of a study's file, which check what is written there.

The docstring under a field describes its key; workflow/schemas/ has the JSON schemas that editors use, which
workflow/scripts/write_schemas.py makes of these records.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import yaml
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from kernelsweep.base.plain_files import read_text
from kernelsweep.errors import UserError, check_known, nearest, shown_value
from kernelsweep.study.axes import read_values


class SettingsRecord(BaseModel):
    """Checked settings that nobody changes. Texts are no numbers, 256.0 is no whole number, and true is neither."""

    # What stands in for required fields that a job wasn't given, until they are deleted.
    stand_ins: ClassVar[Mapping[str, Any]] = {}

    # The docstrings under fields are what editors show; write_schemas.py has them read.
    model_config = ConfigDict(defer_build=True, frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    @classmethod
    def read(cls, data: Mapping[str, Any], where: str) -> Self:
        """The record of what a file says; `shown` is the file. Raises UserError with all mistakes, one a line."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            raise UserError("\n".join(_mistakes(error, data, where, cls.model_json_schema()))) from error

    @classmethod
    def of_job(cls, values: Mapping[str, Any]) -> Self:
        """The record of a job's parameters, which were checked before. A field that the job wasn't given is missing."""
        missing = [name for name, field in cls.model_fields.items() if (field.alias or name) not in values]
        record = cls.model_validate({**cls.stand_ins, **values})
        for name in missing:
            del record.__dict__[name]
        return record

    def values(self, *names: str) -> dict[str, Any]:
        """The fields, or these alone, as plain values, which Snakemake can keep and compare."""
        return self.model_dump(by_alias=True, include={*names} if names else None)

    def changed(self, **fields: Any) -> Self:
        """A copy with other values of some fields, which have to be right."""
        return self.model_copy(update=fields)


def _mistakes(error: ValidationError, data: Any, where: str, schema: Mapping[str, Any]) -> list[str]:
    """A sentence for each key with a mistake: the file, the key, its value, and what is allowed."""
    texts, missing, unknown = dict[str, str](), dict[str, str](), list[str]()
    for mistake in error.errors(include_url=False):
        value, parent, node, path = data, schema, schema, []
        for part in mistake["loc"]:  # Other parts name a branch of a union, or a key that is missing.
            there: Any = range(len(value)) if isinstance(value, list) else value if isinstance(value, dict) else ()
            if part in there:
                value, parent, node = value[part], node, _child(node, part, schema)
                path.append(str(part))
        kind, last = mistake["type"], str(mistake["loc"][-1]) if mistake["loc"] else ""
        if kind == "extra_forbidden":
            known = list(_resolved(parent, schema).get("properties", {}))
            under = f" under {'.'.join(path[:-1])}" if path[1:] else ""
            unknown.append(last)
            others = "; an expression with a comma stands in quotes." if ")" in last else "."
            guess = nearest(last, known) or f"{others} Known keys: {', '.join(known)}."
            texts[".".join(path)] = f"unknown key {last!r}{under}{guess}"
            continue
        key = ".".join(path) or "the file"
        if kind == "missing":
            missing[f"{key}.{last}"] = last
            texts[f"{key}.{last}"] = f"{key} lacks the key {last!r}."
        elif kind == "value_error":  # Its text continues the key.
            texts[key] = f"{'.'.join(path)}{mistake['ctx']['error']}"
        else:
            texts[key] = f"{key} is {shown_value(value)}{_allowed(mistake, value, _resolved(node, schema))}"
    # A misspelt key is told once.
    texts = {key: of for key, of in texts.items() if not any(nearest(one, [missing.get(key, "")]) for one in unknown)}
    # Of the branches of a union, the one that got furthest.
    furthest = [key for key in texts if not any(other.startswith(f"{key}.") for other in texts)]
    file = YamlFile(where, data)
    return [f"{file.line(key)}: {texts[key]}" for key in furthest]


def _allowed(error: Any, value: Any, node: Mapping[str, Any]) -> str:
    """The end of a message: the nearest word where one of a few is needed, and what is allowed."""
    options = (node, *node.get("anyOf", ()))
    if words := [str(word) for option in options for word in option.get("enum", ())]:
        words += [f"{one['minimum']} to {one['maximum']}" for one in options if {"minimum", "maximum"} <= {*one}]
        return f"{nearest(str(value), words) or '.'} Allowed: {', '.join(words)}."
    examples = " or ".join(dict.fromkeys(str(one) for option in options for one in option.get("examples", ())))
    wanted = re.sub(r"^\w+ should (be )?(a valid )?", "", error["msg"]).partition(" or instance of")[0]
    return f". Allowed: {f'for example {examples}' if examples else wanted.replace('dictionary', 'keys with values')}."


def _resolved(node: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    while isinstance(node, Mapping) and "$ref" in node:
        node = {**schema["$defs"][node["$ref"].rpartition("/")[2]], **{k: v for k, v in node.items() if k != "$ref"}}
    return node if isinstance(node, Mapping) else {}


def _child(node: Any, part: str | int, schema: Mapping[str, Any]) -> Any:
    """The schema of a key's value, or of a list's item."""
    whole = _resolved(node, schema)
    for option in (whole, *(_resolved(one, schema) for one in whole.get("anyOf", ()))):
        names = option.get("properties", {})
        child = option.get("items") if isinstance(part, int) else names.get(part, option.get("additionalProperties"))
        if child:
            return child
    return {}


if TYPE_CHECKING:  # Nobody changes them, and an axis' values depend on the axis.
    from collections.abc import Mapping as Table
    from collections.abc import Sequence as Items

    from kernelsweep.study.problem.problem_file import Named

    Value = Any
else:  # pydantic reads, and Snakemake keeps, plain lists and dictionaries.
    Table, Items, Named = dict, list, dict
    Value = Annotated[int | float | str, Field(examples=[1000, "2^24 + 1", "float32"])]


def _read_point(point: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, [value] in read_values({name: [point[name]] for name in point}, True).items()}


def _differ(items: list[Any]) -> list[Any]:
    for item in items:
        if items.count(item) > 1:
            raise ValueError(f" has {item!r} twice.")
    return items


def _all_widths(widths: list[Any]) -> list[Any]:
    return _differ(widths if "two_columns" in widths else ["two_columns", *widths])


Number = int | float
Natural = Annotated[int, Field(ge=1)]
Millions = Annotated[int, Field(ge=6, le=1_000_000)]
SomeSeconds = Annotated[Number, Field(gt=0, le=86_400)]
Text = Annotated[str, Field(max_length=4_000)]
Words = Annotated[str, Field(min_length=1, max_length=4_000)]
Names = Annotated[Items[str], AfterValidator(_differ)]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", examples=["weights"])]
# An expression over the axes, and an argument of a launch.
Formula = str | int
Argument = str | Number
# A value is a number, a word, or a size such as 2^24 + 1, which is read as a number.
Axes = Annotated[
    Table[str, Annotated[Items[Value], Field(min_length=1)]],
    AfterValidator(read_values),
    Field(examples=["{array_size: [1000, 2^24], dtype: [float32]}"]),
]
Place = Annotated[Table[str, Value], AfterValidator(_read_point), Field(examples=["{array_size: 2^24}"])]
Conditions = Annotated[Items[str], Field(examples=['["block_size * unroll <= array_size"]'])]
Function = Annotated[str, Field(min_length=1, examples=["rows<rows_x, radius>"])]
Sides = Formula | Annotated[Items[Formula], Field(min_length=1, max_length=3)]
GridSize = (
    Natural
    | Annotated[
        str,
        Field(
            pattern=r"^[1-9][0-9]* (threads )?\* multiprocessors$",
            examples=["2 * multiprocessors", "2048 threads * multiprocessors"],
        ),
    ]
    | None
)
# A name in a file's path, in patterns of Snakemake and on command lines.
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=100, examples=["tiled_2"])]
# Snakemake would take braces for wildcards.
FilePath = Annotated[str, Field(pattern=r"^[^{}\x00-\x1f]+$", max_length=1_000)]
CsvName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\.csv$", examples=["measured.csv"])]
Architecture = Annotated[str, Field(pattern=r"^sm_[1-9][0-9]{1,2}[af]?$", examples=["sm_90"])]


Inches = Annotated[float, Field(ge=2, le=20)]
FigureWidth = Literal["two_columns", "one_column"] | Inches


class PlatformAxes(SettingsRecord):
    """Axes on one platform."""

    axes: Axes = {}
    """Axes that replace the others on this platform."""


class OnPlatforms(SettingsRecord):
    """Settings with axes for single platforms."""

    platforms: Table[str, PlatformAxes] = {}
    """Axes for one platform, by its name (emulator, nvidia-h200, ...)."""

    def axes_on(self, platform: str) -> Mapping[str, Items[Any]]:
        """The axes for a platform."""
        return self.platforms[platform].axes if platform in self.platforms else {}


class AxesLayer(OnPlatforms):
    """Axes, and others for single platforms. They replace those of what is more general."""

    axes: Axes = {}
    """Axes with lists of values."""


# config/config.yaml


class GpuModel(SettingsRecord):
    """A GPU model of other machines."""

    arch: Architecture
    """The architecture to compile for."""
    resources: Annotated[
        Table[Annotated[str, Field(pattern="^[a-z_]+$")], str | int],
        Field(examples=["{constraint: h200, slurm_partition: gpu}"]),
    ] = {}
    """Resources that jobs on such a GPU request from a cluster, besides a GPU and time, under the names of Snakemake's
    executor plugins. Memory and disk are the profile's."""


class MetricSettings(SettingsRecord):
    """One hardware metric."""

    unit: Annotated[Words, Field(examples=["GB/s"])]
    """The unit that readers see, such as GB/s if Nsight Compute's base unit is byte/s."""
    ncu: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9_]+__[A-Za-z0-9_.]+( \[[^\[\]]+\])?( / [a-z0-9_]+__[A-Za-z0-9_.]+( \[[^\[\]]+\])?)?$",
            examples=["dram__bytes.sum [byte]", "smsp__inst_executed.sum [inst] / smsp__warps_launched.sum [warp]"],
        ),
    ]
    """Nsight Compute's name, with its base unit in brackets if it has one; or one such name over another."""
    combine: Annotated[
        str,
        Field(
            pattern=r"^(sum|mean by [a-z0-9_]+__[A-Za-z0-9_.]+)$", examples=["sum", "mean by gpu__time_duration.sum"]
        ),
    ]
    """How a plan's launches become one value, by sum or by the mean weighted by another of Nsight Compute's metrics."""
    meaning: Words
    """The metric's meaning in one line."""
    uncertainty: Annotated[Number, Field(ge=0, lt=1)] = 0
    """The variation between runs, as a fraction to either side, by which claims are judged; 0 for counts."""


class Sweeps(SettingsRecord):
    """The axes of the two sweeps."""

    quick: Axes = {"array_size": [2**20, 2**24], "block_size": [128, 512], "unroll": [1, 2, 4, 8], "cache": ["cold"]}
    """The sweep for a first answer after a kernel edit. It keeps, of a study's values, those that are here or at its
    reference point."""
    full: Axes = {"cache": ["cold", "hot"]}
    """The sweep for figures."""


class Profiling(SettingsRecord):
    """Settings of Nsight Compute."""

    metrics: Names = [
        "duration",
        "dram_bytes",
        "global_load_efficiency",
        "global_store_efficiency",
        "global_load_requests",
        "global_load_sectors",
        "global_load_bytes",
        "global_store_requests",
        "global_store_sectors",
        "global_store_bytes",
        "shared_load_requests",
        "shared_load_wavefronts",
        "shared_store_requests",
        "shared_store_wavefronts",
        "bank_conflict",
    ]
    """Metrics of config/metrics.yaml that are collected for every study, besides its own."""
    options: Annotated[Items[str], Field(examples=["[--set, full]"])] = []
    """Further options of Nsight Compute's command line, ncu, besides those that kernelsweep sets."""
    timeout_seconds: SomeSeconds = 120
    """The longest time for one point under Nsight Compute, with all its passes, in seconds."""


class Compare(SettingsRecord):
    """What the target compare compares with, and when it fails."""

    before: Words = "previous"
    """The sweep before. previous is each point's latest earlier measurement with other machine code, from the journal.
    Otherwise a folder of results, or recording/<name>."""
    same_within: Annotated[Number, Field(ge=0, le=1)] = 0.01
    """The smallest difference that matters, as a fraction. A point is slower or faster where the whole interval of its
    ratio lies beyond it, and the same where it lies within."""
    fail_on: Literal["none", "slower"] = "none"
    """slower makes the target compare fail if a kernel is slower, over all its points or at some array size, or if a
    count of the emulator's rose. It always fails if a result that was right is wrong now."""


class Measuring(SettingsRecord):
    """When sampling a point ends, and how it is repeated."""

    relative_precision: Annotated[Number, Field(gt=0, le=1)] = 0.005
    """Half the width of the median's 95% confidence interval, as a fraction of the median, at which sampling ends."""
    min_samples: Millions = 20
    """The least samples of a point; a 95% confidence interval of a median needs at least 6."""
    max_samples: Millions = 500
    """The most samples of a point."""
    max_seconds: SomeSeconds = 0.5
    """The longest time for sampling one point, in seconds; the least samples are taken in any case."""
    visits: Annotated[int, Field(ge=1, le=1_000)] = 3
    """The number of visits to each point in a full sweep. Each visit is another process with another order of points,
    and takes its share of the samples. The emulator has no times, so it visits each point once."""
    quick_visits: Annotated[int, Field(ge=1, le=1_000)] = 1
    """The number of visits to each point in a quick sweep. A comparison of quick sweeps needs at least 2, because one
    visit doesn't show how far processes lie apart."""
    repeated_runs: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """The number of runs of a floating-point point whose results are compared bit by bit; 1 turns this off. The
    emulator's threads take turns in a fixed order, so it runs a point at most twice."""
    seeds: Annotated[int, Field(ge=1, le=1_000)] = 1
    """The number of orders of blocks, warps and lanes in which the emulator runs each point: the first ones first, the
    last ones first, both in turns at atomic functions, and from the fifth on by chance."""
    timeout_seconds: SomeSeconds = 120
    """The longest time for one point in total, in seconds; then its worker is stopped."""

    @model_validator(mode="after")
    def _some_samples(self) -> Self:
        if self.max_samples < self.min_samples:
            least = f"at least min_samples, {self.min_samples}"
            raise ValueError(f".max_samples is {self.max_samples}. Allowed: {least}.")
        return self


_Platform = Annotated[
    str,
    Field(
        pattern="^([a-z0-9-]+|recording/[A-Za-z0-9._-]+)$",
        examples=["auto", "gpu", "emulator", "nvidia-h200", "recording/<name>"],
    ),
]


class Config(OnPlatforms):
    """config/config.yaml: the axes of a sweep, and the way it is measured."""

    studies: Annotated[
        Names,
        BeforeValidator(lambda written: written or [], json_schema_input_type=list[str] | None),
        Field(examples=["[unrolling, staged]"]),
    ] = []
    """The studies that the target all runs, by the names of their files in config/studies/; null for every study."""
    platform: _Platform | Annotated[Items[_Platform], Field(min_length=1), AfterValidator(_differ)] = "auto"
    """The platform on which points run, or a list of platforms. auto is the GPU if there is one, otherwise the emulator
    with times drawn from the recording of the most studies. A GPU model is this machine's, or one of gpu_models."""
    sweep: Literal["quick", "full"] = "full"
    """The set of axes under sweeps that is run."""
    profile: bool = False
    """Whether the target all also runs each kernel under Nsight Compute, like the target profile."""
    sanitize: Literal["unproven", "all", "none"] = "unproven"
    """The kernels that are run under compute-sanitizer, too, on a GPU: those that the emulator can't check, or checks
    in part, and edited ones; all; or none. The target sanitize runs all at any time."""
    arch: Annotated[str, Field(pattern="^(native|sm_[1-9][0-9]{1,2}[af]?)$", examples=["native", "sm_90"])] = "native"
    """The GPU architecture to compile for; native is the architecture of this machine's GPU."""
    figure_widths: Annotated[Items[FigureWidth], AfterValidator(_all_widths)] = ["two_columns"]
    """The widths of figures: a paper's columns, or inches. The page shows the figures of two columns, so these are
    always drawn."""
    view: str = ""
    """The address of a view in the page's explorer, which the target figure draws."""
    width: Inches = 3.3
    """The width of that figure, in inches."""
    font: Annotated[str, Field(min_length=1, examples=["sans", "serif", "fonts/paper.ttf"])] = "sans"
    """The type of figures: sans, serif, or a TrueType or OpenType file."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 2026
    """The seed of the input array and of the order of points."""
    points_per_job: Annotated[int, Field(ge=1, le=10_000_000)] = 2_500
    """The most points that one job measures. A kernel with more is cut into chunks, one job each, which several GPUs
    can share. Changing it does not trigger new measurements."""
    sweeps: Sweeps = Field(default_factory=Sweeps)
    """Axes of the quick and the full sweep."""
    axes: Axes = {}
    """Axes for one run, which replace those of the sweep, of every platform and of every study that has them."""
    platforms: Table[str, PlatformAxes] = Field({"emulator": {"axes": {"cache": ["cold"]}}}, validate_default=True)
    """Axes for one platform, by its name (emulator, nvidia-h200, ...)."""
    gpu_models: Table[Annotated[str, Field(pattern="^[a-z0-9-]+$")], GpuModel] = {}
    """GPU models of other machines, such as a cluster's nodes, by the names of their platforms (nvidia-h200, ...)."""
    metrics: Table[Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")], MetricSettings] = {}
    """The hardware metrics that studies can name; config/metrics.yaml has the shipped ones."""
    profiling: Profiling = Field(default_factory=Profiling)
    """Settings of Nsight Compute."""
    compare: Compare = Field(default_factory=Compare)
    """The two sides of the target compare, and when it fails."""
    candidate: str = ""
    """The file of the untrusted kernel that the target grade judges, or a folder of such; docs/grading.md."""
    study: str = ""
    """The study whose problem the target grade's candidate solves."""
    against: str = ""
    """The study's kernel whose launches candidates take, and with which they are timed; empty for the last one."""
    sandbox: Literal["required", "none"] = "required"
    """Whether the target grade may run candidates where this machine has no sandbox for them: none lets it."""
    measuring: Measuring = Field(default_factory=Measuring)
    """When sampling a point ends, and how it is repeated."""


# A kernel of a study


class KernelArray(SettingsRecord):
    """An array of a kernel's own."""

    size: Formula
    """The number of elements, as an expression over the axes. It is rounded up."""
    dtype: str
    """The element type, or the axis that has it."""
    value: Number | None = None
    """Each element before every run, which every run has to leave as it was; null where nothing is known of them."""


def sides_of(written: str | float | Items[str | float]) -> Items[str | float]:
    """The sides of a grid, a block or a cluster, of which one alone may be written without a list."""
    return written if isinstance(written, list | tuple) else (written,)


class LaunchSettings(SettingsRecord):
    """One launch."""

    kernel: Function | None = None
    """The C++ function, with its template arguments as expressions over the axes; null for the kernel's own."""
    grid: Sides
    """The number of thread blocks, in one to three dimensions, as expressions over the axes. They are rounded up."""
    block: Sides
    """The number of threads of a block, in one to three dimensions, as expressions over the axes."""
    shared: Formula | None = None
    """The bytes of dynamic shared memory, as an expression over the axes; null for the kernel's own."""
    cluster: Sides | None = None
    """The blocks of a cluster, in one to three dimensions, as expressions over the axes; for sm_90 and later."""
    cooperative: bool = False
    """Whether all blocks are resident at once, so that the grid's threads can wait for one another."""
    programmatic: bool = False
    """Whether it may begin before the launch before it has ended, for which it waits itself; for sm_90 and later."""
    arguments: Items[Argument]
    """The arguments in the function's order, each the name of an array, of a scalar or of an axis, or an expression
    over the axes."""


class Acknowledgement(SettingsRecord):
    """A finding that is known and meant. One between two lines takes both lines."""

    check: Literal["races", "uninitialised"]
    """The check that finds it."""
    line: Annotated[Natural | Annotated[str, Field(pattern=r"^[^/:]+:[1-9][0-9]*$")], Field(examples=["tree.cuh:17"])]
    """The line of the kernel's file, or file:line of another one."""
    reason: Words
    """Why it is right nevertheless. The page prints it."""


class KernelSettings(AxesLayer):
    """A kernel of a study."""

    name: FileName
    """The kernel's name and its file's name."""
    folder: FileName | None = Field(default=None, alias="from")
    """The study whose folder in kernels/ holds the file; null for this one."""
    build: FileName | None = None
    """The Python file in the kernel's folder, in place of a .cu file, whose function `build` makes the machine code of
    each configuration for a GPU; docs/study-files.md."""
    macros: Annotated[Items[str | Table[str, str | Number | bool]], Field(examples=["[tile_size, {WIDTH: n}]"])] = []
    """Axes that the kernel reads as macros of their name, or macros with expressions over the axes as their values."""
    options: Items[
        Annotated[str, Field(pattern="^[-{]", examples=["--use_fast_math", "-maxrregcount={registers}"])]
    ] = []
    """Further options for nvcc, which may have expressions over the axes in braces. g++ is given the language, macros
    and headers that they name."""
    constants: Annotated[Items[Identifier], AfterValidator(_differ)] = []
    """Inputs that are copied to the variables of their name in constant memory before the kernel runs."""
    variables: Annotated[Items[Identifier], AfterValidator(_differ)] = []
    """Arrays of the problem that are `__device__` variables of their name: copied there before the kernel runs,
    and back after it."""
    restrictions: Conditions = []
    """Conditions that every point of this kernel meets, besides the study's."""
    function: Function | None = None
    """The C++ function that launches start, with its template arguments as expressions over the axes, where a launch
    names no other; null for the function of the file's name."""
    shared: Formula = 0
    """The bytes of dynamic shared memory of a launch that says nothing else, as an expression over the axes."""
    arrays: Annotated[
        Table[Identifier, KernelArray], Field(examples=["{partials: {size: grid_size, dtype: float32}}"])
    ] = {}
    """Arrays of this kernel's own, between its launches or for its results."""
    results: Annotated[Table[str, Formula], Field(examples=["{partials: grid_size}"])] = {}
    """The arrays whose first elements are the kernel's results, each with their number as an expression over the axes,
    where these are not the problem's outputs. The problem's function result gets them."""
    updates: Names = []
    """The inputs that the kernel changes. They are restored before every run."""
    roundings: Formula = 0
    """The longest chain of roundings that an element of floating point goes through on the device, as an expression
    over the axes and `launches`, the number of launches. The problem's function error_bound may ask for it."""
    launches: Items[LaunchSettings] = []
    """The launches of one run, in their order."""
    undefined_behaviour: Words | None = None
    """The reason why the language does not define the kernel's result. Findings in such a kernel are expected, and the
    kernel is never a baseline."""
    acknowledged: Items[Acknowledgement] = []
    """Findings that are known and meant, each with the reason."""
    smallest_architecture: Architecture | None = None
    """The oldest GPU architecture that has the kernel's instructions; null for all. Older GPUs skip the kernel."""
    gpu_only: Words | None = None
    """The reason why the emulator cannot run the kernel and skips it."""

    @property
    def host_variables(self) -> list[str]:
        """The kernel's variables that the host sets or reads."""
        return [*self.constants, *self.variables]


# A study


# Of docs/measured/search.md, what needs the fewest seconds.
BY_DEFAULT = "optuna/tpe"


class Search(SettingsRecord):
    """Where a study's configurations are searched."""

    budget: Natural
    """The number of configurations that are measured of each kernel at each problem size."""
    by: Annotated[
        str, Field(pattern="^(optuna|kernel_tuner)/[a-z0-9_]+$", examples=["kernel_tuner/genetic_algorithm"])
    ] = BY_DEFAULT
    """What proposes configurations: a sampler of Optuna, or a strategy of Kernel Tuner."""
    at: Place = {}
    """The values of axes at which the search takes place. Each replaces the study's values of its axis."""


class StepSettings(SettingsRecord):
    """A step of a study's story. Any further key is an axis, such as unroll; an axis that only other steps name has the
    first of the kernel's values."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | int | float]

    kernel: str
    """One of the study's kernels."""
    grid_size: GridSize = None
    """The number of blocks if the kernel's launches name the axis grid_size; otherwise null."""

    @property
    def axes(self) -> Mapping[str, Any]:
        """Its values on axes besides grid_size."""
        return self.model_extra or {}


class ProfiledPoint(StepSettings):
    """A point to profile."""

    at: Place = {}
    """The point's differences from the study's reference point."""


class Rival(AxesLayer):
    """A function of a library that does the same work."""

    call: Annotated[str, Field(examples=["cublas_matmul<precision>"])]
    """The function, with the words that it needs: expressions over the axes, or words that stand for themselves."""
    arguments: Items[Argument]
    """The arguments in the function's order, each the name of an array, of a scalar or of an axis, or an expression
    over the axes."""

    @property
    def name(self) -> str:
        """The function's name, without its words."""
        return self.call.partition("<")[0].strip()


class ClaimSettings(SettingsRecord):
    """A statement about the best configurations. Any further key is an axis of the kernel, or with `reference_`
    in front, of the reference kernel; on others a kernel is at its fastest."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, str | int | float]

    claim: Words
    """The statement as a reader sees it."""
    kernel: str | None = None
    """The kernel that the claim is about; null for the fastest of all kernels."""
    reference_kernel: str | None = None
    """The kernel, rival or limit (such as limit_copy) that it is compared with; null if a metric's value itself is
    meant."""
    quantity: str = "speedup"
    """speedup, the reference kernel's time over the kernel's; output, the elements that a kernel leaves; or a
    metric's name, in a study with steps."""
    relation: Literal["about", "equal", "at_least", "at_most", "above", "below"]
    """The claimed relation to the value."""
    value: Number | str
    """The claimed value; for an output, its elements."""
    tolerance: Annotated[Number, Field(gt=0)] | None = None
    """The tolerance of about to either side; null with other relations."""
    source: Text = "own claim"
    """The source of the claim."""
    source_device: Text = ""
    """The source's device."""
    id: Text = ""
    """A short name; empty for the study's name and the claim's number."""
    at: Place = {}
    """Axes whose values differ from the reference point's, or that narrow the configurations."""
    cause: Text = ""
    """Why it may not hold: a word of the study's causes; shown only if it does not hold."""


FigureEntry = (
    str
    | Annotated[
        Table[str, Table[str, str]], Field(min_length=1, max_length=1, examples=["{lines: {x: n, by: kernel}}"])
    ]
)


class _Study(AxesLayer):
    title: Text
    """The study's heading in tables, figures and the report."""
    description: Text = ""
    """The study's question and story, in a few sentences."""
    data: Annotated[Items[FilePath], Field(examples=["[kernels/<study>/weights.npy]"])] = []
    """The files that the problem's functions read, from the repository's folder. After an edit of one, the study is
    measured again."""
    axes: Axes
    """The study's axes, with names of your own."""
    restrictions: Conditions = []
    """Conditions that every point of this study meets. What they exclude is no row."""
    tied: Annotated[Items[Annotated[Names, Field(min_length=2)]], Field(examples=["[[width, height]]"])] = []
    """Groups of axes that vary together; the first values of all belong together, then the second values, and so on."""
    cxx: Annotated[Table[str, Table[str, str]], Field(examples=["{operation: {sum: Sum}}"])] = {}
    """The C++ names of an axis' words, where the word itself is none. Element types have theirs."""
    kernels: Annotated[Items[KernelSettings], Field(min_length=1)]
    """The kernels in the order of their story. Each has the name of a file kernels/<study>/<name>.cu."""
    further: Items[AxesLayer] = []
    """More points of the full sweep. Each entry replaces some of every kernel's axes."""
    search: Search | None = None
    """Where there are times, look for each kernel's fastest configuration at each problem size instead of running every
    point; null runs every point. docs/search.md."""
    compares: Literal["times", "outputs"] = "times"
    """What the study shows of its kernels: their times; or their outputs, where each does other work."""
    steps: Items[StepSettings] = []
    """The steps of the story in their order, which are the rows of the table and of the ladder. Without steps, each
    kernel is shown at its fastest configuration."""
    rivals: Items[Rival] = []
    """Functions of libraries that do the same work, measured beside the kernels on a GPU."""
    limits: Names = []
    """What the device can do at most: copy or fill, the driver's copy or fill of as many bytes as the work has, or a
    kernel of the study."""
    metrics: Names = []
    """Metrics of config/metrics.yaml. They are the columns of the study's table, in their order."""
    profiled: Items[ProfiledPoint] = []
    """More points to profile, besides the study's steps at the reference point."""
    claims: Items[ClaimSettings] = []
    """Statements about the best configurations, each judged by its interval: the reference kernel's time over the
    kernel's, or a metric."""
    causes: Annotated[
        Table[str, Words], Field(examples=["{other hardware: It has more multiprocessors than the source's GPU.}"])
    ] = {}
    """Why claims may not hold: for each word that claims name as their cause, a sentence."""
    reference: Place = {}
    """The point at which the table compares the kernels, by axis. An axis that it leaves out is at its first value."""
    figures: Items[FigureEntry] = ["lines", "heatmap"]
    """The study's figures: names, or a name with the axes that it shows."""
    table: Annotated[Names, Field(examples=["[time_us, speedup, global_load_sectors]"])] = []
    """The columns of the study's table.tex, by their names in table.csv; without them time, rate, share of the peak and
    speedup."""
    titles: Annotated[Table[str, Words], Field(examples=["{m: matrix size}"])] = {}
    """What axes are, for readers of figures and of the page's explorer."""
    labels: Annotated[Table[str, Words], Field(examples=["{shuffle: ours}"])] = {}
    """Other names for kernels, in figures."""
    colours: Annotated[
        Table[str, Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$", examples=["#004488"])]],
        Field(examples=['{shuffle: "#004488"}']),
    ] = {}
    """Colours of kernels' lines, in figures."""
    published: CsvName | None = None
    """A file in resources/published/ with the numbers that others print of these kernels, which stand beside ours; or
    null. resources/published/README.md explains its columns."""

    @property
    def rival_names(self) -> list[str]:
        """The names of the libraries' functions."""
        return [rival.name for rival in self.rivals]

    @property
    def rival_calls(self) -> dict[str, Rival]:
        """The libraries' functions by name."""
        return {rival.name: rival for rival in self.rivals}

    @property
    def figure_axes(self) -> dict[str, Mapping[str, str]]:
        """The axes that the study's file gives each of its figures, by the figure's name."""
        return {
            name: axes
            for entry in self.figures
            for name, axes in ({entry: {}} if isinstance(entry, str) else entry).items()
        }


class StudyFile(_Study):
    """config/studies/<study>.yaml, one study."""

    problem: FilePath
    """The Python file that says what the kernels compute; docs/study-files.md."""

    @model_validator(mode="after")
    def _once(self) -> Self:
        for key, names in (
            ("kernels", [kernel.name for kernel in self.kernels]),
            ("rivals", self.rival_names),
            ("figures", [name for one in self.figures for name in ([one] if isinstance(one, str) else one)]),
        ):
            for name in names:
                if names.count(name) > 1:
                    raise ValueError(f"{key} lists {name!r} twice.")
        return self


class StudySettings(_Study):
    """A study's settings: what its file and its problem say, with the reference point's value on every axis."""

    stand_ins: ClassVar[Mapping[str, Any]] = {
        "title": "",
        "axes": {},
        "kernels": [{"name": "_"}],
        "problem": {},
    }

    problem: Named
    """The problem file, the study's axes, and the data that it reads."""
    kinds: Table[str, Literal["size", "kernel", "condition"]] = {}
    """What each axis says, in the study's order: the problem's size, how a kernel is built or launched, or else."""


# How messages call the file.
CONFIG_FILE = "config/config.yaml (or --config)"

# LibYAML's where PyYAML was built with it: ten times as fast.
_SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MERGE = "tag:yaml.org,2002:merge"


class _Loader(_SafeLoader):  # type: ignore[misc]
    """Plain YAML, where a key stands once, and a date is a text. LibYAML's ends the process where it is nested deep."""

    _depth = 0

    def descend_resolver(self, *_: Any) -> None:
        self._depth += 1
        if self._depth > _DEEPEST_YAML:
            raise yaml.YAMLError(f"it is nested more than {_DEEPEST_YAML} deep")

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        names: set[str] = set()
        for key, _ in node.value:
            if key.tag == _MERGE:
                continue
            if str(key.value) in names:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} stands twice", key.start_mark)
            names.add(str(key.value))
        values: dict[Hashable, Any] = super().construct_mapping(node, deep)
        return values


class _Mapping(dict[Hashable, Any]):
    """A mapping of a file, with the line of each key."""

    lines: Mapping[Hashable, int] = {}


class _List(list[Any]):
    """A list of a file, with the line of each item."""

    lines: Mapping[Hashable, int] = {}


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Iterator[_Mapping]:
    yield (values := _Mapping())
    values.update(loader.construct_mapping(node))
    values.lines = {key.value: key.start_mark.line + 1 for key, _ in node.value}


def _list(loader: _Loader, node: yaml.SequenceNode) -> Iterator[_List]:
    yield (values := _List())
    values.extend(loader.construct_sequence(node))
    values.lines = {place: item.start_mark.line + 1 for place, item in enumerate(node.value)}


_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)
_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:seq", _list)


class YamlFile(str):
    """A file's name in messages, which knows the lines of its keys."""

    data: Any = None

    def __new__(cls, shown: str, data: Any = None) -> Self:
        """The file that messages call `shown`, with what read_yaml() has read of it."""
        file = super().__new__(cls, shown)
        file.data = data
        return file

    def line(self, key: str) -> str:
        """The file and the line of a key, such as "kernels.0.axes"; an item's name can stand for its number."""
        value, line = self.data, 0
        for part in key.split("."):
            place: Any = part
            if isinstance(value, list):
                names = [one.get("name") if isinstance(one, dict) else None for one in value]
                if not part.isdigit() and part not in names:  # Of a kernel from elsewhere, as a candidate.
                    return str(self)
                place = int(part) if part.isdigit() else names.index(part)
            try:
                value, line = value[place], value.lines[place]
            except (AttributeError, LookupError):
                break
        return f"{self}:{line}" if line else str(self)

    def at(self, key: str) -> str:
        """The file, the line, and a key, which begin a message."""
        return f"{self.line(key)}: {key}"


def parse_yaml(text: str, where: str) -> Any:
    """The contents of a YAML text as plain values. Raises UserError with the line of a mistake."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise UserError(f"{where}{line}: not valid YAML: {problem}.") from error


_LARGEST_YAML = 2**24  # bytes, for which PyYAML takes minutes
_DEEPEST_YAML = 100


def read_yaml(path: Path, where: str) -> dict[str, Any]:
    """The mapping in a YAML file. Raises UserError with the line if it is none."""
    try:
        data = parse_yaml(read_text(path, "utf-8-sig", _LARGEST_YAML), where)
    except (OSError, ValueError, RecursionError, OverflowError) as error:  # Such as a number of 5,000 digits.
        raise UserError(f"{where} can't be read: {error}.") from error
    if data is None:  # All keys are commented out.
        return {}
    if not isinstance(data, dict):
        raise UserError(f"{where}: expected keys with values, found {type(data).__name__}")
    return data


def study_names(root: Path) -> list[str]:
    """The names of the studies that have a file in config/studies/; hidden files are an editor's."""
    return sorted(path.stem for path in (root / "config/studies").glob("*.yaml") if not path.name.startswith("."))


def read_config(config: Mapping[str, Any], root: Path) -> Config:
    """config.yaml's content with values from --config, checked, and with all studies where it names none.

    Raises UserError with file, key, value and what is allowed.
    """
    # Snakemake's --config passes texts: profile=true, axes='{n: [1024]}', figure_widths=[two_columns,3.3].
    texts = ("axes", "compare", "figure_widths", "measuring", "profile", "sweeps")
    passed = {key: config[key] for key in texts if key in config}
    written = {key: _as_value(value, key == "profile") for key, value in passed.items()}
    checked = Config.read({**config, **written}, CONFIG_FILE)
    studies = study_names(root)
    for name in checked.studies or ():
        check_known(name, studies, f"{CONFIG_FILE}: studies names")
    measuring = checked.measuring
    if checked.sweep == "quick":
        measuring = measuring.changed(visits=measuring.quick_visits)
    return checked.changed(studies=checked.studies or studies, measuring=measuring)


def _as_value(passed: Any, has_flags: bool) -> Any:
    """Numbers in place of the texts that are some, in lists and under keys; with `has_flags` also true and false."""
    if isinstance(passed, Mapping):
        return {name: _as_value(value, has_flags) for name, value in passed.items()}
    if isinstance(passed, list):
        return [_as_value(value, has_flags) for value in passed]
    try:
        value = parse_yaml(passed, "") if isinstance(passed, str) else passed
    except (UserError, ValueError, RecursionError):
        return passed
    return value if isinstance(value, int | float) and (has_flags or not isinstance(value, bool)) else passed
