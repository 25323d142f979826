"""The command `kernelsweep apply`: a captured study's fastest kernel in the original's place (docs/capture.md).

kernelsweep apply heat -- ./app input

Whole runs of the program alternate, with the original and with the winner, and are compared in pairs (device/pairs.py).
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

from kernelsweep.capture.injection import library, read_command, run
from kernelsweep.compile.binaries import global_variables
from kernelsweep.compile.unit_store import UnitStore
from kernelsweep.device.gpus import visible_gpus
from kernelsweep.device.pairs import ORDER, Pairs, verdict
from kernelsweep.errors import UserError
from kernelsweep.results import number_or_text, read_rows, with_parameters
from kernelsweep.statistics import ratio_text
from kernelsweep.study.captured import FOLDER, read_capture
from kernelsweep.study.kernels.plan import Launch
from kernelsweep.study.point import Point, in_words
from kernelsweep.study.study import Study, read_study

_MARGIN = 0.01  # the smallest difference that matters


@dataclass(frozen=True)
class Winner:
    """A kernel that may stand in the place of another.

    cubin      has it, by its symbol
    original   the symbol of the other, of whose launches those of the size `sizes` are replaced
    to         the size of the launches in their place: grid, block, and bytes of dynamic shared memory
    shown      what it is, in words
    variables  its module's, which have to hold in each launch what the original's hold
    """

    cubin: Path
    symbol: str
    original: str
    sizes: Sequence[int]
    to: Sequence[int]
    shown: str
    variables: Sequence[str] = ()


def main(arguments: Sequence[str], points_of: Callable[..., str], units: Path) -> int:
    """Run the command, and print its answer; the exit status: 0, or 1 if the program's output changes.

    points_of  the file with the points of a `platform`, a `study` and a `kernel`
    units      the folder of compiled units

    Raises UserError where no kernel can stand in the original's place.
    """
    parser = argparse.ArgumentParser(
        prog="kernelsweep apply",
        usage="kernelsweep apply NAME [--pairs N] -- COMMAND ...",
        description="Run a program with the fastest kernel of a captured study in the place of the original launch.",
    )
    parser.add_argument("name", help="the study's")
    parser.add_argument("--pairs", type=int, default=5, help="of runs: one with the original, one with the winner")
    given, command = read_command(parser, arguments)
    if not command or given.pairs < 3:
        parser.error("name the program behind --, and at least 3 pairs")
    answer, is_same = in_pairs(command, find_winner(read_study(given.name, Path.cwd()), points_of, units), given.pairs)
    print(answer)
    return 0 if is_same else 1


def find_winner(study: Study, points_of: Callable[..., str], units: Path) -> Winner:
    """The fastest right point of a study's kernels at its first launch, besides those of the original.

    Raises UserError where there is none, and where it can't stand in the original's place.
    """
    record = read_capture(study.root / "kernels" / study.name / FOLDER).record
    if not (gpus := visible_gpus()):
        raise UserError("There is no GPU, so that no kernel is the fastest.")
    of_study = {"platform": gpus[0].platform, "study": study.name}
    files = [Path(points_of(**of_study, kernel=name)) for name in study.kernels]
    rows = [with_parameters(row) for file in files if file.is_file() for row in read_rows(file)]
    number = next(iter(record["launches"]))
    rows = [row for row in rows if row["status"] == "ok" and row["time_us"] and row["launch"] == number]
    own, timed = ([row for row in rows if (row["kernel"] == "captured") is is_own] for is_own in (True, False))
    if not own or not timed:
        raise UserError(
            f"{study.file}: no kernel besides the captured one has a time. Add one (--source), and run the study first."
        )
    best = min(timed, key=lambda row: (row["cache"] != "cold", float(row["time_us"])))
    before = min(float(row["time_us"]) for row in own if row["cache"] == best["cache"])
    point = Point({axis: number_or_text(best[axis]) for axis in study.problem.axes})
    original = record["launches"][number]
    launches = study.kernels[str(best["kernel"])].plan(point).launches
    shown = f"{best['kernel']} ({in_words(point)}; {best['time_us']} us, the original {before:g} us)"
    kept = UnitStore(units).functions({best["binary_sha256"]})
    if not kept:
        raise UserError(f"The machine code of {shown} is no longer kept: run the study again.")
    cubin, report = kept[best["binary_sha256"]]
    if why := _why_not(launches, original, report):
        raise UserError(f"{shown} can't stand in the place of {record['name']}: {why}.")
    variables = [*report["constant_bytes"], *global_variables(cubin)]
    sizes = [*original["grid"], *original["block"], original["shared"]]
    to = [*launches[0].grid, *launches[0].block, launches[0].shared_bytes]
    return Winner(cubin, report["symbol"], record["kernel"], sizes, to, shown, variables)


def _why_not(launches: Sequence[Launch], original: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    """Why a kernel's launches can't stand in the place of the original one; empty where they can."""
    if len(launches) != 1:
        return f"it has {len(launches)} launches in place of one"
    own = [one["array"] or one["name"] for one in original["parameters"]]
    if list(launches[0].arguments) != own:
        return f"its arguments are {', '.join(map(str, launches[0].arguments))}, and the original's {', '.join(own)}"
    sizes = [len(one["hex"]) // 2 for one in original["parameters"]]
    if (others := [int(one.split()[0][1:]) for one in report["parameter_types"]]) != sizes:
        return f"its parameters have {others} bytes, and the original's {sizes}"
    attributes = launches[0].attributes
    if list(attributes.cluster) != original["cluster"] or attributes.cooperative is not original["cooperative"]:
        return "its clusters are others, or only one of the two is cooperative"
    return ""


def in_pairs(command: Sequence[str], winner: Winner, pairs: int) -> tuple[str, bool]:
    """Run a program in pairs, with the original and with the winner; the answer, and whether its output is the same.

    Raises UserError where the program can't be started, and where no launch could be replaced.
    """
    logs: list[float] = []
    outputs: dict[bool, set[Any]] = {True: set(), False: set()}
    with tempfile.TemporaryDirectory(prefix="kernelsweep-") as folder:
        shutil.copyfile(winner.cubin, Path(folder) / "kernel.cubin")
        _timed(command, winner, Path(folder), False)  # Later runs find files in the memory.
        for order in itertools.islice(itertools.cycle(ORDER), pairs):
            seconds = {}
            for with_winner in (True, False)[::order]:
                seconds[with_winner], output, replaced = _timed(command, winner, Path(folder), with_winner)
                outputs[with_winner].add(output)
            logs.append(log(seconds[True] / seconds[False]))
    ratio = Pairs(1e6 * seconds[False], [logs], [True]).ratio()
    assert ratio is not None, "there are some pairs"
    if outputs[True] == outputs[False]:
        same = "Its output and exit status stay the same"
    elif len(outputs[False]) > 1:
        same = "Its output differs from run to run, with the original, too"
    else:
        same = "OTHER OUTPUT: it prints something else, or ends with another status"
    return (
        f"{winner.shown} in the place of {replaced} launches a run, in {pairs} pairs of runs:\n"
        f"  the whole program {ratio_text(ratio.interval, '×')}, {verdict(ratio.interval, _MARGIN)}. {same}."
    ), not same.startswith("OTHER")


def _timed(command: Sequence[str], winner: Winner, folder: Path, with_winner: bool) -> tuple[float, Any, int]:
    """The seconds of a run, its output with its exit status, and how many launches were, or would be, replaced."""
    for file in folder.glob("*.txt"):
        file.unlink()
    settings = {
        "": folder,
        "_KERNEL": winner.original,
        "_SIZES": ",".join(map(str, winner.sizes)),
        "_ENTRY": winner.symbol if with_winner else "",
        "_TO": ",".join(map(str, winner.to)),
        "_VARIABLES": " ".join(winner.variables),
    }
    preloaded = [str(library("apply.cpp")), os.environ.get("LD_PRELOAD")]
    variables = {f"KERNELSWEEP_APPLY{name}": str(value) for name, value in settings.items()}
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        status = run(command, {**variables, "LD_PRELOAD": ":".join(filter(None, preloaded))}, output)
        seconds = time.perf_counter() - started
        output.seek(0)
        printed = output.read()
    told = [file.read_text(encoding="utf-8").partition(" ") for file in folder.glob("*.txt")]
    replaced, why = sum(int(count) for count, _, _ in told), "".join(why.strip() for _, _, why in told)
    if why or not replaced:
        raise UserError(f"No launch can be replaced: {why or 'the program has launched none of that kernel and size'}.")
    return seconds, (status, printed), replaced
