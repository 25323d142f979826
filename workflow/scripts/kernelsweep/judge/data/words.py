"""Words for readers of tables, figures and claims: sizes, steps, the reference point, the device, statuses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelsweep.reasons import Reason
from kernelsweep.results import (
    ALL_POINT_COLUMNS,
    DRIVER_LIMITS,
    LIMIT_PREFIX,
    PROOF_FAILED,
    VALUES_RIGHT,
    read_parameters,
)
from kernelsweep.statistics import three_digits
from kernelsweep.study.point import in_words
from kernelsweep.study.settings import StudySettings

SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
# A size this close to a large power of two is written by its distance from it: 2²⁰+3 rather than 1,048,579.
NEAR_A_POWER = 64
LARGE_POWER = 1024
# Sizes that differ by less than this part nearly equal each other.
ALIKE = 0.01
# The values of axes up to this are written as a study's file has them.
LARGEST_PLAIN = 2**16

# So many values of an axis are listed.
MOST_VALUES = 8

UNDEFINED_MARK = " †"
UNDEFINED_NOTE = "†: undefined behaviour in CUDA, so never what to use."
THROTTLED_MARK, THROTTLED_NOTE = " *", "throttled, too few samples at the full clock."

# A line of a file of CUDA, in a message.
_LINE = re.compile(r"\S+\.cuh?:\d+")
# What fault() calls an access out of bounds that changes no result.
OUT_OF_BOUNDS = "out of bounds"

# One letter for each status that shown_status() gives: the word does not fit a heat map's cell.
STATUS_LETTERS = {
    "wrong_result": "W",
    "build_failed": "B",
    "launch_failed": "L",
    "timed_out": "T",
    "out_of_memory": "M",
    "implausible": "I",
    "skipped": "S",
    PROOF_FAILED: "P",
}


def step_name(kernel: str, axes: Mapping[str, Any]) -> str:
    """A kernel at values of axes: `interleaved`, `unrolled ×8`, `tiled tile=16`."""
    words = [f"×{value}" if axis == "unroll" else f"{axis}={value}" for axis, value in axes.items()]
    return " ".join([kernel, *(word for word in words if word != "×1")])


def size_text(array_size: int) -> str:
    """An array size: 2²⁴, 2²⁰+3, 1,000."""
    power = max(array_size, 1).bit_length() - 1
    if array_size - 2**power > 2 ** (power + 1) - array_size:
        power += 1
    offset = array_size - 2**power
    if offset == 0 and array_size > 1:
        return f"2{str(power).translate(SUPERSCRIPTS)}"
    if abs(offset) <= NEAR_A_POWER and array_size > LARGE_POWER:
        return f"2{str(power).translate(SUPERSCRIPTS)}{'+' if offset > 0 else '−'}{abs(offset)}"
    return f"{array_size:,}"


def where_text(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], **texts: str) -> str:
    """A row's values on the axes on which rows differ, or on all if none do; the grid only if it is swept.

    texts  by axis, what stands for its value
    """

    def values(one: Mapping[str, Any]) -> dict[str, Any]:
        return {axis: one.get(axis) for axis in ALL_POINT_COLUMNS[:-1]} | read_parameters(one.get("parameters") or "")

    own, every = values(row), [*map(values, rows)]
    axes = [axis for axis in own if any(one.get(axis) != own[axis] for one in every)]
    others = [axis for axis in axes if axis != "grid_size"]
    if sum(all(one.get(axis) == own[axis] for axis in others) for one in every) < 2:
        axes = others
    return in_words({axis: own[axis] and texts.get(axis, own[axis]) for axis in axes or own})


def source_lines(message: str, own: str = "") -> list[tuple[str, str]]:
    """The lines of CUDA that a finding names: each place and text, with whether both accesses of a race are there.

    own  a file from where the message is; of others, only those in the working directory: `#line` may name any
    """
    found = []
    for place, times in Counter(_LINE.findall(message)).items():
        name, _, number = place.rpartition(":")
        is_ours = name == own or Path(name).resolve().is_relative_to(Path.cwd())
        text = Path(name).read_text("utf-8", "replace").splitlines() if is_ours and Path(name).is_file() else []
        if 0 < int(number) <= len(text):
            found.append((place, f"{'both: ' if times > 1 else ''}{text[int(number) - 1].strip()}"))
    return found


def fault(row: Mapping[str, Any]) -> tuple[str, str]:
    """What is wrong at a failed row's point, as its status or "out of bounds", and its message's first line."""
    message = str(row.get("message") or "").partition("\n")[0]
    if row.get("reason") == Reason.OUT_OF_BOUNDS and message.startswith(VALUES_RIGHT):
        return OUT_OF_BOUNDS, f"{message.removeprefix(VALUES_RIGHT)}; the values are right"
    return str(row["status"]).replace("_", " "), message


def small_number(value: float) -> str:
    """A number with two digits and a power of ten: 3.1·10⁻⁸."""
    if value == 0:
        return "0"
    digits, power = f"{value:.1e}".split("e")
    return f"{digits}·10{str(int(power)).replace('-', '⁻').translate(SUPERSCRIPTS)}"


def axis_title(axis: str) -> str:
    """An axis as the head of a column: a study's own axes keep their names."""
    return {"array_size": "array size"}.get(axis, axis)


def axis_value(axis: str, value: Any) -> str:
    """A value of an axis: 512, 2²⁴, 0.5, a word. Array sizes near a power of two are always written by it."""
    if isinstance(value, str):
        return kernel_text(value) if axis == "kernel" else value
    if isinstance(value, float) and not value.is_integer():
        return f"{value:g}"
    return size_text(int(value)) if axis == "array_size" or value > LARGEST_PLAIN else str(int(value))


def values_text(values: Mapping[str, Iterable[Any]]) -> str:
    """Several values on axes: `array size 1, 1,000 and 2¹⁴+1; block size 64 and 256; cache cold`."""
    texts = {axis_title(axis).replace("_", " "): _some_values(axis, [*of]) for axis, of in values.items() if of}
    return "; ".join(f"{axis} {text}" for axis, text in texts.items())


def _some_values(axis: str, values: Sequence[Any]) -> str:
    texts = [axis_value(axis, value) for value in sorted(values)]
    if len(texts) > MOST_VALUES and not isinstance(values[0], str):
        return f"{texts[0]} to {texts[-1]} ({len(texts)} values)"
    return list_texts(texts, most=MOST_VALUES)


def point_text(values: Mapping[str, Any]) -> str:
    """Values on axes: `n=4096 radius=2`."""
    return " ".join(f"{axis}={axis_value(axis, value)}" for axis, value in values.items())


# The ends of the names of two axes that are the sides of one thing, such as tile_width and tile_height.
_PAIRS = {("x", "y"), ("m", "n"), ("width", "height")}


def configuration_values(values: Mapping[str, Any]) -> dict[str, str]:
    """Values on axes by name, with two sides of one thing together: `64×32` of tile and `8` of rows."""
    stems: dict[str, list[str]] = {}
    for axis in values:
        stems.setdefault(axis.rpartition("_")[0], []).append(axis)
    ends = {stem: tuple(axis.removeprefix(f"{stem}_") for axis in axes) for stem, axes in stems.items() if stem}
    pairs = {stems[stem][0]: stem for stem, names in ends.items() if names in _PAIRS}
    words: dict[str, str] = {}
    for axis, value in values.items():
        stem, text = axis.rpartition("_")[0], axis_value(axis, value)
        if axis in pairs:
            words[stem] = text
        elif stems[stem][0] in pairs:
            words[stem] += f"×{text}"
        else:
            words[axis] = text
    return words


def configuration_words(values: Mapping[str, Any]) -> str:
    """As configuration_values(), in a line: `tile=64×32 rows=8`."""
    return point_text(configuration_values(values))


# Axes of launches, in words; and those that are the sides of one matrix, image or grid.
LAUNCH_AXES = {"block_size": "block size", "unroll": "unroll factor", "grid_size": "grid size"}
_SIDES = {"m", "n", "k", "width", "height", "depth", "rows", "columns"}


def size_names(values: Mapping[str, Any]) -> list[str]:
    """The axes that size_words() names, as in `radius=16`: no array size, no sides of one thing, no words."""
    alone = {*values} - {"array_size"} - (_SIDES if len(_SIDES & {*values}) > 1 else set())
    return [axis for axis in values if axis in alone and axis_value(axis, values[axis])[0].isdigit()]


def size_words(values: Mapping[str, Any]) -> str:
    """A size: `2²⁴`, `4096³`, `8192 × 8192, radius=16`, `2²⁸, spread=16`; "" without any axis."""
    texts, named = {axis: axis_value(axis, value) for axis, value in values.items()}, size_names(values)
    sides = [text for axis, text in texts.items() if axis in _SIDES]
    sides = sides if len(sides) > 1 else []
    others = [
        f"{axis}={text}" if axis in named else text for axis, text in texts.items() if not (sides and axis in _SIDES)
    ]
    is_cube = len(sides) == 3 and len({*sides}) == 1 and sides[0].isdecimal() and sides[0].isascii()
    # A line breaks between the parts.
    return ", ".join([*([f"{sides[0]}³" if is_cube else "\xa0×\xa0".join(sides)] if sides else []), *others])


def place_text(values: Mapping[str, Any]) -> str:
    """Values on axes in a sentence: `array size 2²⁴, int32 sum, block size 512, cold cache`; `n=1024, cold cache`."""
    named = ("array_size", "dtype", "operation", *LAUNCH_AXES, "cache")
    texts = [f"array size {axis_value('array_size', values['array_size'])}"] if "array_size" in values else []
    texts.append(" ".join(str(values[axis]) for axis in ("dtype", "operation") if axis in values))
    texts += [f"{words} {axis_value(axis, values[axis])}" for axis, words in LAUNCH_AXES.items() if axis in values]
    texts.append(size_words({axis: value for axis, value in values.items() if axis not in named}))
    texts += [f"{values['cache']} cache"] if "cache" in values else []
    return ", ".join(filter(None, texts))


def configured_text(values: Mapping[str, Any], own: Sequence[str]) -> str:
    """As place_text(), with what is known on a kernel's own axes behind it: `n=1024, cold cache, tile=64×32`."""
    known = {axis: value for axis, value in values.items() if value is not None}
    chosen = {axis: known.pop(axis) for axis in own if axis in known and axis not in LAUNCH_AXES}
    return ", ".join(filter(None, [place_text(known), configuration_words(chosen)]))


def reference_text(study: StudySettings, free: Sequence[str] = ()) -> str:
    """A study's reference point, without the axes in `free`."""
    return place_text({axis: value for axis, value in study.reference.items() if axis not in free})


def device_text(device: Mapping[str, Any]) -> str:
    """Where the numbers come from: the device's provenance, after its name unless the provenance contains that."""
    name, provenance = str(device["name"]), str(device["provenance"])
    if name not in provenance:
        return f"{name} ({provenance})"
    return provenance[:1].upper() + provenance[1:]


def peak_text(peak: str) -> str:
    """Whose a peak is: `the memory's`, `float32's`."""
    return "the memory's" if peak == "memory" else f"{peak}'s"


def times_text(gain: float) -> str:
    """How many times as fast, with three digits, or as many as tell it from 1: 9.60, 0.916, 1.006."""
    return f"{gain:.3f}" if abs(gain - 1) < 0.01 else three_digits(gain)


def power_of_two_in(number: float) -> int:
    """The largest power of two that divides a number's whole part: of numbers that are ALIKE, it tells the roundest."""
    return int(number) & -int(number)


def share_text(share: float) -> str:
    """A share of a peak, with two digits: <0.1%, 0.2%, 3.5%, 34%."""
    return "<0.1%" if share < 0.0005 else f"{share:.1%}" if share < 0.0995 else f"{share:.0%}"


def limit_kernel(limit: str) -> str:
    """The value of the column kernel in a limit's rows."""
    return f"{LIMIT_PREFIX}{limit}" if limit in DRIVER_LIMITS else limit


def nearest_limits(limits: Sequence[str]) -> list[str]:
    """The limits that are drawn first: the study's kernels that do a part of the work, or else the driver's."""
    return [limit for limit in limits if limit not in DRIVER_LIMITS] or [*limits]


def limit_text(limit: str) -> str:
    """A limit for readers."""
    return f"the driver's {limit}" if limit in DRIVER_LIMITS else f"{limit} at its fastest"


def kernel_text(kernel: str) -> str:
    """A kernel, or what was measured beside kernels, for readers: the driver's copy for limit_copy."""
    limit = kernel.removeprefix(LIMIT_PREFIX)
    return limit_text(limit) if limit in DRIVER_LIMITS and kernel != limit else kernel


def status_key(statuses: Sequence[str]) -> str:
    """The letters of the given statuses explained: "L launch failed, W wrong result"; "" without any."""
    return ", ".join(
        f"{letter} {status.replace('_', ' ')}" for status, letter in STATUS_LETTERS.items() if status in statuses
    )


def failures_text(statuses: Sequence[str]) -> str:
    """The number of points with each failure: "1 out of memory, 3 wrong result"; "" if all are `ok`."""
    failed = [status for status in statuses if status != "ok"]
    return ", ".join(f"{failed.count(status)} {status.replace('_', ' ')}" for status in sorted(set(failed)))


def list_texts(texts: Sequence[str], most: int = 3) -> str:
    """Texts in a sentence: "a", "a and b", "a, b and 4 more"."""
    shown = list(texts) if len(texts) <= most else [*texts[: most - 1], f"{len(texts) - most + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
