"""The command `kernelsweep capture`: a program's kernels, or launches of one of them as a study (docs/capture.md).

kernelsweep capture -- ./app input              list the kernels
kernelsweep capture heat --kernel diffuse -- ./app input
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from kernelsweep.base.plain_files import write_texts
from kernelsweep.capture.injection import Watched, read_command, watch
from kernelsweep.capture.replay import replays
from kernelsweep.capture.study_files import (
    Captured,
    Source,
    make_anonymous,
    read_launches,
    source_files,
    study_files,
    take_results,
    write_capture,
)
from kernelsweep.compile.nvcc import demangled
from kernelsweep.errors import UserError
from kernelsweep.judge.data.words import list_texts
from kernelsweep.study.captured import FOLDER

_REPLAYS, _ROUNDED = 20, 8
_SHOWN = 30  # kernels
_LONGEST = 90  # characters of a kernel's name
_UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}

# Finds what a kernel's file says of it: its options, and the names and types of its parameters.
FindSource = Callable[[Path, str], Source]


def main(arguments: Sequence[str], check_name: Callable[[str], None], find_source: FindSource) -> int:
    """Run the command; the program's exit status, or 1 where the program was right and capturing failed.

    check_name  raises UserError for a name that no study can have

    Raises UserError.
    """
    given, command = _read(arguments)
    if given.kernel:
        check_name(given.name)
        for path in (Path(f"config/studies/{given.name}.yaml"), Path("kernels", given.name)):
            if path.exists():
                raise UserError(f"{path} exists already. Choose another name, or delete it.")
    with tempfile.TemporaryDirectory(prefix="kernelsweep-") as folder:
        watched = watch(command, Path(folder), given.kernel, given.launch, given.start, given.most)
        try:
            watched.check()
            if given.kernel:
                _write_study(given, command, watched, find_source)
            else:
                print(kernels_in_words(watched), file=sys.stderr)
        except UserError as error:
            print(error, file=sys.stderr)
            return watched.status or 1
    return watched.status


def _read(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the program's command line behind `--`."""
    parser = argparse.ArgumentParser(
        prog="kernelsweep capture",
        usage="kernelsweep capture [NAME --kernel PATTERN [options]] -- COMMAND ...",
        description="Run a program, and list its kernels; or write launches of one of them as the study NAME, with "
        "their data, their results and the machine code. The program and its output stay as they are.",
        epilog="Exit status: the program's; 1 if that is 0 and nothing could be captured.",
    )
    parser.add_argument("name", nargs="?", default="", help="the study's")
    parser.add_argument("--kernel", default="", metavar="PATTERN", help="a part of a kernel's name")
    parser.add_argument("--launch", type=_numbers, default=[1], metavar="N,...", help="which of its launches, from 1")
    parser.add_argument("--from", type=float, default=0, dest="start", metavar="SECONDS", help="leave out earlier ones")
    parser.add_argument("--most", type=_bytes, default="2GiB", help="of a launch's buffers; by default 2GiB")
    parser.add_argument("--source", type=Path, metavar="FILE.cu", help="build a second kernel from this file")
    parser.add_argument("--anonymous", action="store_true", help="random values of the same range in all buffers")
    given, command = read_command(parser, arguments)
    if not command:
        parser.error("name the program behind --, as in: kernelsweep capture -- ./app input")
    if bool(given.name) is not bool(given.kernel):
        parser.error("NAME and --kernel belong together: without them, kernels are listed")
    return given, command


def _numbers(text: str) -> list[int]:
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} are no numbers of launches such as 1,5")
    return sorted({int(one) for one in text.split(",")})


def _bytes(text: str) -> int:
    found = re.fullmatch(r"([\d.]+) ?([KMG]iB)?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes such as 500MiB")
    return int(float(found[1]) * _UNITS[found[2] or ""])


def kernels_in_words(watched: Watched) -> str:
    """A table of the kernels of a program, the one with the largest share of the time first."""
    kernels = _kernels(watched)
    if not kernels:
        return "The program has run no kernel."
    total = sum(one["ns"] for one in kernels) or 1
    rows = [
        {
            "share": f"{one['ns'] / total:.1%}",
            "total ms": f"{one['ns'] / 1e6:.3f}",
            "mean us": f"{one['ns'] / one['count'] / 1e3:.2f}",
            "launches": one["count"],
            "grid": _sides(one["grid"]) + (" ..." if one["geometries"] > 1 else ""),
            "block": _sides(one["block"]),
            "": "in a graph" if one["in_graphs"] == one["count"] else "",
            "kernel": name if len(name) <= _LONGEST else f"{name[: _LONGEST - 3]}...",
        }
        for one, name in zip(kernels, demangled([one["kernel"] for one in kernels]), strict=True)
    ]
    seconds = max(record["us"] for record in watched.records) / 1e6
    more = f"\n... and {len(rows) - _SHOWN} more." if len(rows) > _SHOWN else ""
    return (
        f"\n{tabulate(rows[:_SHOWN], headers='keys', disable_numparse=True)}{more}\n"
        f"{total / 1e6:.3f} ms of kernels in {seconds:.2f} s since CUDA's start."
    )


def _kernels(watched: Watched) -> list[Mapping[str, Any]]:
    return sorted((one for record in watched.records for one in record["kernels"]), key=lambda one: -one["ns"])


def _sides(sides: Sequence[int]) -> str:
    return " x ".join(str(one) for one in sides if one > 1) or "1"


def _write_study(given: argparse.Namespace, command: Sequence[str], watched: Watched, find_source: FindSource) -> None:
    """Write the study of what was captured, replay it, and say what there is. Raises UserError."""
    launches = watched.launches
    if not launches:
        raise UserError(_reason_for_none(given, watched))
    captured = read_launches(launches, watched.folder, partial(_source, given.source, find_source))
    kernels = _kernels(watched)
    own = sum(one["ns"] for one in kernels if one["kernel"] == captured.symbol)
    total = sum(one["ns"] for one in kernels)
    program = "a program" if given.anonymous else " ".join(command)
    record = {
        "program": program,
        "kernel": captured.symbol,
        "name": captured.name,
        "device": captured.first["device"],
        "arch": captured.first["arch"],
        "share": own / total if total else None,
        "launches": captured.launches,
        "spread": {},
    }
    folder = Path("kernels", given.name, FOLDER)
    if given.anonymous:
        make_anonymous(captured)
    write_capture(folder, captured, record)
    write_texts(study_files(given.name, captured, program, "It was not replayed."))
    if given.anonymous:
        try:
            take_results(captured, replays(given.name, 1).results)
        except UserError as error:
            shutil.rmtree(folder.parent)
            Path("config/studies", f"{given.name}.yaml").unlink()
            raise UserError(f"{error} The results of random values come from a replay. Nothing was written.") from error
        write_capture(folder, captured, record)
    told = _replayed(given.name, captured, record)
    write_capture(folder, captured, record, is_final=True)
    of_time = f", which had {record['share']:.1%} of the time of all its kernels" if total else ""
    notes = "".join(f" Note: {note}." for note in dict.fromkeys(captured.notes))
    description = f"Launch {', '.join(captured.launches)} of `{captured.name}` in `{program}`{of_time}. {told}{notes}"
    files = study_files(given.name, captured, program, description)
    write_texts(files)
    matching = {name for name in demangled([one["kernel"] for one in kernels]) if given.kernel in name}
    others = matching - {captured.name}
    also = f" Other kernels that match: {len(others)}." if others else ""
    own_seconds = max(one["own_us"] for one in watched.records) / 1e6
    print(
        f"\n{description}{also}\n{captured.bytes / 1e6:,.1f} MB of buffers; it took the program {own_seconds:.2f} s.\n"
        f"Written: {', '.join(map(str, [*files, folder]))}. Run it: kernelsweep {given.name}",
        file=sys.stderr,
    )


def _reason_for_none(given: argparse.Namespace, watched: Watched) -> str:
    if refusals := [text for record in watched.records for text in record["refusals"]]:
        return "\n".join(f"Not captured: {text}." for text in refusals)
    seen, in_graphs = (sum(record[key] for record in watched.records) for key in ("seen", "in_graphs"))
    names = {one["kernel"] for one in _kernels(watched) if one["in_graphs"]}
    every = demangled([one["kernel"] for one in _kernels(watched)])
    if in_graphs or (not seen and any(given.kernel in name for name in demangled(sorted(names)))):
        return (
            f"Not captured: the program launches {given.kernel!r} in a CUDA graph, whose buffers can't be read between "
            "its launches. Run the program without graphs, if it has an option for that."
        )
    if seen or any(given.kernel in name for name in every):
        after = f" after {given.start:g} s" if given.start else ""
        return f"Not captured: launches of {given.kernel!r}{after}: {seen}. --launch or --from ask for later ones."
    return f"No kernel has {given.kernel!r} in its name. The program's kernels:\n{kernels_in_words(watched)}"


def _source(file: Path | None, find_source: FindSource, kernel: str, image: bytes) -> Source | None:
    """The source of a kernel: the file that was named, or the first that the image's line table names and has it."""
    if file:
        return find_source(file, kernel)
    for one in source_files(image):
        with suppress(UserError):  # It is a header, or has other kernels.
            return find_source(one, kernel)
    return None


def _replayed(name: str, captured: Captured, record: dict[str, Any]) -> str:
    """Replay the launches on this machine's GPU; what that has shown, in sentences. The capture gets how far off."""
    try:
        found = replays(name, _REPLAYS, _ROUNDED)
    except UserError as error:
        return str(error)
    for (launch, array), spread in found.spread.items():
        captured.contents[f"{launch}_{array}_spread"] = spread
        record["spread"].setdefault(launch, {})[array] = f"{launch}_{array}_spread"
        described = captured.launches[launch]["arrays"][array]
        if spread.nbytes == described["bytes"]:  # Floats; perhaps found to be some.
            described["dtype"] = spread.dtype.name
    differ = max(found.differ.values())
    told = f"{differ} of {_REPLAYS} replays differ" if differ else f"{_REPLAYS} replays left the same bits"
    moved = [f"{array} by up to {spread.max():.2g}" for (_, array), spread in found.spread.items()]
    return f"{told}.{f' Rounding moves {list_texts(moved)}.' if moved else ''}"
