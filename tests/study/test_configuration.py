"""The configuration: one readable message for each mistake, defaults that hold, and overrides in their order."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from checkout import ROOT

from kernelsweep.errors import UserError
from kernelsweep.judge.data.steps import ladder_steps
from kernelsweep.project.project import load_config, load_study
from kernelsweep.study.axes import axes_on_device
from kernelsweep.study.expressions import Expression
from kernelsweep.study.kernel_sweep import KernelSweep
from kernelsweep.study.resolve import kernel_axes, listed_points
from kernelsweep.study.settings import Config, study_names
from kernelsweep.study.spaces import valid_points
from kernelsweep.study.study import Study

STUDY = "toy"
KERNEL = "doubled"

KERNEL_FILE = """\
// A kernel for these tests.
template <typename Element, typename Operation, unsigned unroll>
__global__ void doubled(const Element *data, Element *partials, size_t array_size) {}
"""


CLAIM = {
    "claim": "By 2 it is faster.",
    "kernel": KERNEL,
    "unroll": 2,
    "reference_kernel": KERNEL,
    "relation": "above",
    "value": 1,
}


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A project with a study of one kernel, beside those that are shipped. Tests edit its config/ and that kernel."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    (tmp_path / "kernels").mkdir()
    for name in ("resources", *(f"kernels/{folder.name}" for folder in (ROOT / "kernels").iterdir())):
        (tmp_path / name).symlink_to(ROOT / name)
    write_study(tmp_path, {})
    write_kernel(tmp_path, KERNEL_FILE)
    return tmp_path


LAUNCH = {"grid": "array_size / block_size", "block": "block_size", "arguments": ["data", "value", "array_size"]}
GRIDDED = {**LAUNCH, "grid": "min(grid_size, 1000)"}
ENTRY = {"name": KERNEL, "function": "doubled<dtype, operation, unroll>", "launches": [LAUNCH]}
AXES = {"dtype": ["int32"], "operation": ["sum"], "array_size": [1024], "block_size": [32], "unroll": [1, 2]}


def write_study(project: Path, changes: Mapping[str, Any]) -> None:
    study = {
        "title": "Toy",
        "problem": "kernels/reduction_problem.py",
        "cxx": {"operation": {"sum": "Sum"}},
        "kernels": [ENTRY],
        "steps": [{"kernel": KERNEL}],
        **changes,
        "axes": {**AXES, **changes.get("axes", {})},
    }
    (project / f"config/studies/{STUDY}.yaml").write_text(yaml.safe_dump(study))


def write_kernel(project: Path, text: str) -> None:
    folder = project / "kernels" / STUDY
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{KERNEL}.cu").write_text(text)


def shipped_config(root: Path) -> dict[str, Any]:
    return yaml.safe_load((root / "config/config.yaml").read_text())


def changed(settings: dict[str, Any], dotted: str, value: Any) -> dict[str, Any]:
    """The settings with one key, such as measuring.max_samples, set to a value."""
    *folders, key = dotted.split(".")
    inner = settings
    for folder in folders:
        inner = inner.setdefault(folder, {})
    inner[key] = value
    return settings


def assert_readable(error: pytest.ExceptionInfo[UserError], file: str, told: str) -> None:
    """One line that begins with the file and says this, in no words of Python's or JSON Schema's."""
    message = str(error.value)
    assert message.startswith(file.removesuffix(": ")) and told in message and "\n" not in message
    for jargon in ("is not of type", "is not valid under", "does not match", "Traceback", "was expected"):
        assert jargon not in message


@pytest.mark.parametrize(("key", "value", "told"), [
    ("measuring.max_sample", 5, "'max_sample' under measuring; did you mean 'max_samples'?"),
    ("arch", "sm_9", "arch is 'sm_9'. Allowed: for example native or sm_90."),
    ("studies", ["unroling"], "studies names 'unroling'; did you mean 'unrolling'? Allowed: "),
    ("platform", ["NVIDIA H200"], "platform.0 is 'NVIDIA H200'. Allowed: for example auto or gpu or emulator"),
    ("platforms", {"zebra": {}}, "platforms names 'zebra'. Allowed: emulator, nvidia-h200, ..."),
])  # fmt: skip
def test_a_mistake_in_config_yaml(root: Path, key: str, value: Any, told: str) -> None:
    with pytest.raises(UserError) as error:
        load_config(changed(shipped_config(root), key, value), root)
    assert_readable(error, "config/config.yaml (or --config): ", told)


def test_all_mistakes_of_a_file_are_told_at_once(root: Path) -> None:
    with pytest.raises(UserError) as error:
        load_config({"sed": 1, "arch": "sm", "measuring": {"visits": 0}, "gpu_models": {"nvidia-l4": {}}}, root)
    told = [line.removeprefix("config/config.yaml (or --config): ") for line in str(error.value).splitlines()]
    assert sorted(line[:21] for line in told) == [
        "arch is 'sm'. Allowed",
        "gpu_models.nvidia-l4 ",
        "measuring.visits is 0",
        "unknown key 'sed'; di",
    ]


@pytest.mark.parametrize(("changes", "told"), [
    ({"kernels": [KERNEL]}, "kernels.0 is 'doubled'. Allowed: keys with values."),
    ({"axes": {"grid_size": ["2 multiprocessors"]}}, "axes.grid_size.0 is '2 multiprocessors'. Allowed: a num"),
    ({"kernels": [ENTRY | {"launches": [GRIDDED]}], "axes": {"grid_size": [3]}},
     "steps.0 has doubled without a grid_size, which its launches need"),
    ({"rivals": [{"call": "cub<operation>", "arguments": ["data", "value", "array_size"]}]},
     "rivals calls 'cub<operation>' with 3 arguments. It needs: cub<operation, dtype> with data, value"),
    ({"kernels": [ENTRY | {"launches": [GRIDDED | {"n)": None}]}]},
     "unknown key 'n)' under kernels.0.launches.0; an expression with a comma stands in quotes. Known keys: kernel, "),
    ({"limits": ["dubled"]}, "limits names 'dubled'; did you mean 'doubled'? Allowed: copy, fill, doubled."),
    ({"claims": [CLAIM | {"reference_unroll": 3}]}, "claims.0.unroll is 3. Allowed: "),
    ({"steps": [{"kernel": "doubled", "unroll": 3}]}, "steps.0.unroll is 3. Allowed: "),
    ({"axes": {"lambda": [1]}}, "axes has 'lambda'. Allowed: names of letters, digits and _, but no keyword"),
    # Pins: direct.cu was blamed, and "an #if".
    ({"kernels": [ENTRY | {"function": "doubled<unrol>"}]}, "a launch has 'unrol', which doubled.cu and its hea"),
    ({"kernels": [ENTRY | {"function": "doubled<"}]}, "'doubled<' is no function. Allowed: a name such"),
])  # fmt: skip
def test_a_mistake_in_a_study(toy: Path, changes: dict[str, Any], told: str) -> None:
    write_study(toy, changes)
    with pytest.raises(UserError) as error:
        load_study(STUDY, toy)
    assert_readable(error, "config/studies/toy.yaml: ", told)


def test_numbers_and_truth_that_the_command_line_passes_as_texts_are_read(toy: Path) -> None:
    from snakemake.cli import parse_config  # Only here: it takes a second.

    words = [
        "measuring={visits: 2}",
        "compare={same_within: 0.01, before: previous}",
        "figure_widths=[two_columns,3.3]",
    ]
    passed = parse_config([*words, "axes={block_size: [64], array_size: [2^20], unit: ['true']}"])
    read = load_config({**yaml.safe_load((toy / "config/metrics.yaml").read_text()), **passed}, toy)
    assert read.measuring.visits == 2 and read.figure_widths == ["two_columns", 3.3]
    with pytest.raises(UserError, match=r"figure_widths.0 is 33.*Allowed: two_columns, one_column, 2 to 20"):
        load_config(parse_config(["figure_widths=[33,two_columns]"]), toy)
    assert load_config(parse_config(["figure_widths=[7]"]), toy).figure_widths == ["two_columns", 7]
    assert read.compare.same_within == 0.01 and read.compare.before == "previous"
    assert read.axes == {"block_size": [64], "array_size": [2**20], "unit": ["true"]}


def test_all_that_is_shipped_is_right(root: Path) -> None:
    config = load_config(shipped_config(root), root)
    for name in study_names(root):
        study = load_study(name, root)
        for kernel in study.kernels:
            for platform in ("emulator", "nvidia-h200"):
                assert listed_points(config, study, kernel, platform)


# The schemas


def test_the_editors_schemas_are_those_of_the_records_and_describe_every_key(root: Path) -> None:
    program = [sys.executable, "-c", "import json, write_schemas; print(json.dumps(write_schemas.schemas()))"]
    made = subprocess.run(program, cwd=root / "workflow/scripts", capture_output=True, text=True, check=True).stdout
    for file, schema in json.loads(made).items():
        written = json.loads((root / "workflow/schemas" / file).read_text())
        assert written == schema, "run workflow/scripts/write_schemas.py"
        for node in (schema, *schema["$defs"].values()):
            for key, of_key in node.get("properties", {}).items():
                assert "$ref" in of_key or len(of_key.get("description", "")) > 5, key


def test_the_shipped_files_fit_the_editors_schemas_and_name_them(root: Path) -> None:
    files = [root / "config/config.yaml", root / "config/metrics.yaml", *sorted((root / "config/studies").iterdir())]
    for file in files:
        first, text = file.read_text().split("\n", 1)
        schema = file.parent / first.removeprefix("# yaml-language-server: $schema=")
        jsonschema.Draft202012Validator(json.loads(schema.read_text())).validate(yaml.safe_load(text))


def test_defaults_are_what_config_yaml_ships(root: Path) -> None:
    # A reader who deletes a key gets the default that the file and its README promise.
    shipped = shipped_config(root)
    metrics = yaml.safe_load((root / "config/metrics.yaml").read_text())
    # Without `studies`, `all` runs every study there is.
    assert load_config(metrics | {"studies": shipped["studies"]}, root) == load_config(shipped | metrics, root)
    # Nothing is left to a default.
    every = shipped | metrics
    assert Config.read(every, "config.yaml").model_dump(exclude_unset=True).keys() == Config.model_fields.keys()


# Overrides, restrictions, expressions, sizes


def test_overrides_go_from_the_general_to_the_specific(toy: Path) -> None:
    """Five layers set block_size; taking them away from the most specific on shows the one below each time."""
    platform = "nvidia-h200"

    def setting(value: int, platform: str | None) -> dict[str, Any]:
        axes = {"axes": {"block_size": [value]}}
        return {"platforms": {platform: axes}} if platform else axes

    layers: list[tuple[str, dict[str, Any]]] = [
        ("config", setting(64, platform)),
        ("study", setting(128, None)),
        ("study", setting(256, platform)),
        ("kernel", setting(512, None)),
        ("kernel", setting(1024, platform)),
    ]
    for count in range(len(layers) + 1):
        parts: dict[str, dict[str, Any]] = {"config": {}, "study": {}, "kernel": {}}
        for owner, part in layers[:count]:
            parts[owner].update(part)
        config = load_config({"sweeps": {"full": {"cache": ["cold"], "block_size": [32]}}, **parts["config"]}, toy)
        write_study(toy, {"kernels": [{**ENTRY, **parts["kernel"]}], **parts["study"]})
        study = load_study(STUDY, toy)
        # The study's axes come before those of config.yaml, and have to be there.
        assert only_axes(config, study, platform)["block_size"] == [32 * 2 ** (0 if count < 2 else count)]
        # The settings of one platform don't affect another; the other axes stay as they are.
        other = only_axes(config, study, "nvidia-a100")
        assert other["block_size"] == [{0: 32, 1: 32, 2: 128, 3: 128, 4: 512, 5: 512}[count]]
        assert other["unroll"] == AXES["unroll"]


def test_a_step_names_any_axis_and_the_others_have_the_kernels_first_value(toy: Path) -> None:
    steps = [{"kernel": KERNEL, "block_size": 64}, {"kernel": KERNEL}, {"kernel": KERNEL, "unroll": 2}]
    write_study(toy, {"axes": {"block_size": [32, 64]}, "steps": steps})
    settings = load_study(STUDY, toy).settings
    values = [(64, 1), (32, 1), (32, 2)]
    assert [(step.axes["block_size"], step.axes["unroll"]) for step in settings.steps] == values
    assert not {"block_size", "unroll"} & settings.reference.keys()
    names = [f"{KERNEL} block_size=64", f"{KERNEL} block_size=32", f"{KERNEL} block_size=32 ×2"]
    assert [step.name for step in ladder_steps(settings, {"multiprocessors": 1})] == names


def test_outputs_compared_without_a_reference_have_the_first_place(toy: Path) -> None:
    first = {"cache": "cold", **{axis: values[0] for axis, values in AXES.items()}}
    write_study(toy, {"compares": "outputs", "steps": []})
    assert load_study(STUDY, toy).settings.reference == first
    write_study(toy, {"compares": "outputs"})
    assert load_study(STUDY, toy).settings.reference == {"cache": "cold"}, "kernels may differ in all others"


def only_axes(config: Mapping[str, Any], study: Study, platform: str) -> dict[str, Any]:
    """The axes of the toy kernel, whose study has no further points."""
    (axes,) = kernel_axes(config, study, KERNEL, platform)
    return axes


def test_further_points_join_a_full_sweep(toy: Path) -> None:
    of_emulator = {"emulator": {"axes": {"array_size": [8]}}}
    further = [{"axes": {"dtype": ["float32"], "array_size": [1024]}, "platforms": of_emulator}]
    write_study(toy, {"axes": {"array_size": [1024, 2048], "block_size": [64], "unroll": [1]}, "further": further})
    study = load_study(STUDY, toy)

    def sizes(sweep: str, platform: str) -> list[tuple[str, int]]:
        axes = kernel_axes(load_config({"sweep": sweep}, toy), study, KERNEL, platform)
        return sorted({(point["dtype"], point["array_size"]) for point in valid_points(axes, [], [])})

    integers = [("int32", 1024), ("int32", 2048)]
    assert sizes("full", "nvidia-h200") == [("float32", 1024), *integers]
    assert sizes("full", "emulator") == [("float32", 8), *integers]
    assert sizes("quick", "nvidia-h200") == integers[:1], "the reference point's"


def test_a_quick_sweep_has_the_values_at_which_kernels_are_compared(toy: Path) -> None:
    quick = {"array_size": [1024, 4096], "block_size": [32], "dtype": ["int32"], "unroll": [1], "cache": ["cold"]}
    config = load_config({"sweep": "quick", "sweeps": {"quick": {**quick, "operation": ["sum"]}}}, toy)
    reference = {"array_size": 2048, "block_size": 32, "dtype": "float32", "operation": "sum", "cache": "cold"}
    axes = {"array_size": [512, 1024, 2048, 8192], "dtype": ["int32", "float32", "float64"], "unroll": [2, 4]}
    tied = {"axes": {**axes, "operation": ["sum", "product"]}, "platforms": {"emulator": {"axes": {"unroll": [1, 8]}}}}
    write_study(toy, {**tied, "reference": reference, "kernels": [{**ENTRY, "axes": {"cache": ["hot"]}}]})
    found = only_axes(config, load_study(STUDY, toy), "nvidia-h200")
    assert found["array_size"] == [1024, 2048]
    assert found["dtype"] == ["int32", "float32"]
    assert found["operation"] == ["sum"]
    assert found["unroll"] == [2, 4] and found["cache"] == ["hot"]  # none is named
    assert only_axes(config, load_study(STUDY, toy), "emulator")["unroll"] == [1, 8]
    chosen = load_config({**config.values(), "axes": {"array_size": [7]}}, toy)
    assert only_axes(chosen, load_study(STUDY, toy), "nvidia-h200")["array_size"] == [7]
    assert load_config({"sweep": "quick"}, toy).measuring.visits == 1


def test_a_grid_in_multiprocessors_is_the_devices(toy: Path) -> None:
    gridded = {**ENTRY, "name": "cascaded", "from": "stepwise", "launches": [GRIDDED]}
    write_study(toy, {"kernels": [gridded, ENTRY], "axes": {"grid_size": [264, "2 * multiprocessors", 8]}})
    study, config = load_study(STUDY, toy), load_config({}, toy)
    (axes,) = kernel_axes(config, study, "cascaded", "nvidia-h200")
    assert axes_on_device(axes, 132)["grid_size"] == [264, 8]  # the same number is not run twice
    assert axes_on_device(axes, 16)["grid_size"] == [264, 32, 8]
    # A launch with fewer blocks is the point with that number, once.
    on_device = KernelSweep(study.kernels["cascaded"], [{**axes, "grid_size": [2000, 3000, 8]}], 132, [], None)
    assert {one["grid_size"] for one in on_device.points()} == {1000, 8}
    restricted = replace(on_device, restrictions=["grid_size < 1000"])
    assert {one["grid_size"] for one in restricted.points()} == {8}
    # A kernel whose launches set the number of blocks has one point for all of these.
    assert only_axes(config, study, "nvidia-h200")["grid_size"] == [None]


def test_restrictions_of_study_and_kernel_leave_points_out(toy: Path) -> None:
    axes = {"array_size": [64, "2^10"], "block_size": [64, 96, 16], "unroll": [1, 2, 4]}
    of_kernel = {"restrictions": ["block_size == 2**ceil(log2(block_size))", "unroll <= 2"]}
    restrictions = {"restrictions": ["block_size * unroll < array_size", "unroll == 1 or array_size > 100"]}
    write_study(toy, {"axes": axes, **restrictions, "kernels": [ENTRY | of_kernel]})
    config, study = load_config({}, toy), load_study(STUDY, toy)
    found = {
        (p["array_size"], p["block_size"], p["unroll"]) for p in listed_points(config, study, KERNEL, "nvidia-h200")
    }
    assert found == {(64, 16, 1), *((1024, block, unroll) for block in (16, 64) for unroll in (1, 2))}


@pytest.mark.parametrize("text", ["__import__('os').system('true')", "dtype.upper()", "[unroll for unroll in (1, 2)]"])
def test_expressions_cannot_run_code(text: str) -> None:
    with pytest.raises(UserError):
        Expression(text)


def test_expressions_compute_over_a_points_axes() -> None:
    values = {"array_size": 2**20, "block_size": 96, "unroll": 4, "dtype": "int32", "operation": "sum", "cache": "cold"}
    assert Expression("unroll + ceil(log2(block_size))")(values) == 11
    assert (
        Expression(
            "itemsize(dtype) == 4 and dtype in ('int32', 'int64') and not block_size % 32 and array_size == 2**20"
        )(values)
        is True
    )
    with pytest.raises(UserError, match=r"'1 / \(unroll - 4\)': can't be computed for .*'unroll': 4"):
        Expression("1 / (unroll - 4)")(values)
    for longer_than_memory in ("dtype * 2**40", "2**40 * 'a'", "'%' % unroll", "[1] * 2**40", "9**9**9"):
        with pytest.raises(UserError, match="can't be computed"):
            Expression(longer_than_memory)(values)
