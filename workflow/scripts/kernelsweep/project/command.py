"""The command kernelsweep: Snakemake with kernelsweep's Snakefile, in any folder.

  kernelsweep check FILE.cu        look for races and accesses out of bounds,
                                   without a study and without a GPU
  kernelsweep new NAME [FILE.cu]   begin a study, of your kernel if you name it
  kernelsweep STUDY                check this folder's study; time it on a GPU
  kernelsweep compare [STUDY ...]  what an edit did, in these studies or in all
  kernelsweep watch [STUDY ...]    the same after each saved file, until Ctrl-C
  kernelsweep capture -- ./app     list a program's kernels; with NAME and
                                   --kernel, make a study of one's launch
  kernelsweep apply NAME -- ./app  run the program with the study's fastest
                                   kernel in the original's place
  kernelsweep ci                   check this folder's studies in a forge's job
  kernelsweep help                 the targets, such as prove, count and grade
  kernelsweep ...                  snakemake -s <kernelsweep's Snakefile> ...

check, capture, apply and ci have a --help of their own. Snakemake's options
hold: snakemake --help.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib import metadata
from pathlib import Path
from shutil import get_terminal_size
from typing import NoReturn

from kernelsweep.base.logs import fitted
from kernelsweep.errors import UserError, nearest
from kernelsweep.home import HOME, version
from kernelsweep.project.files import path
from kernelsweep.project.last_words import COMMANDS, without_stack


def main() -> None:
    """Run the command line's command. A mistake ends it with a sentence and status 1, of `check` 2."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["check"], ["new"], ["watch"]):
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # Before NumPy is imported: a process with one thread is forked.
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            print(__doc__, end="")
            sys.exit(0 if arguments else 1)
        if arguments[0] == "check":
            sys.exit(check(arguments[1:]))
        if arguments[0] == "ci":
            from kernelsweep.project import ci

            sys.exit(ci.main(arguments[1:]))
        if arguments[0] == "capture":
            sys.exit(capture(arguments[1:]))
        if arguments[0] == "apply":
            from kernelsweep.capture import apply

            sys.exit(apply.main(arguments[1:], partial(path, "points"), Path(path("unit_store"))))
        if arguments[0] == "new":
            from kernelsweep.project.new_study import start_study

            print(fitted(start_study(arguments[1:])))
        elif arguments[0] in ("-v", "--version"):
            print(f"kernelsweep {version()}, with Snakemake {metadata.version('snakemake')}")
        elif arguments[0] == "watch":
            from kernelsweep.project.watch import watch

            watch(lambda: _run_snakemake(_compared(["compare", *arguments[1:]])))
        else:
            _run_snakemake(_compared(arguments))
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2 if arguments[0] == "check" else 1)
    except KeyboardInterrupt:  # In the first seconds; later, the rules answer it.
        sys.exit(1 if arguments[0] == "watch" else "Stopped.")


def _compared(arguments: Sequence[str]) -> list[str]:
    """The arguments of Snakemake, for which the studies behind `compare` are a setting, and no targets."""
    rest = [re.sub("^view=#", "view=", one) for one in arguments]  # To Snakemake, a comment begins there.
    studies = [*itertools.takewhile(str.isidentifier, rest[1:])] if rest[0] == "compare" else []
    if studies:
        del rest[1 : 1 + len(studies)]
        if "--config" not in rest:
            rest.append("--config")
        rest.insert(rest.index("--config") + 1, f"studies=[{','.join(studies)}]")
    return rest


def _run_snakemake(arguments: Sequence[str]) -> NoReturn:
    from snakemake import cli  # which takes a second
    from snakemake.logging import logger

    from kernelsweep.study.settings import read_yaml, study_names

    # With studies, Snakemake's targets are known, and the last words have it.
    if not study_names(Path.cwd()) and (guess := nearest(arguments[0], COMMANDS, similarity=0.75)):
        raise UserError(f"There is no target {arguments[0]!r}{guess}")
    # Jobs run Snakemake and Python by their names.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    sys.argv = ["kernelsweep", "-s", str(HOME / "Snakefile"), *arguments]
    argparse.ArgumentParser.print_usage = lambda *_: None  # type: ignore[method-assign]  # 150 lines above an error
    logger.addFilter(without_stack)
    # But for the profile that it uses, on a line of its own.
    cli.print = lambda text, **given: None if text.startswith("Using") else print(text, **given)
    try:
        parser, parsed = cli.parse_args(None)
    except Exception as error:  # Of a profile.
        sys.exit(f"{type(error).__name__}: {error}")
    del cli.print
    for one in parsed.config or ():
        if not re.match(r"\w+=", one):
            raise UserError(
                f"--config has {one!r}, and no name before it. Quote values: compare='{{before: recording/x}}'"
            )
    for file in parsed.configfile or ():  # Snakemake's exceptions don't name it.
        read_yaml(Path(file), str(file))
    sys.exit(0 if cli.args_to_api(parsed, parser) else 1)


def capture(arguments: Sequence[str]) -> int:
    """List the kernels of a program, or write launches of one as a study; the exit status. Raises UserError."""
    from kernelsweep.capture.command import main
    from kernelsweep.capture.study_files import Source
    from kernelsweep.project.check import Given, folders_in
    from kernelsweep.project.guess import guess
    from kernelsweep.project.new_study import check_name

    def source(file: Path, kernel: str) -> Source:
        options = Given().with_flags_of(file).options
        word = re.search(r"(\w+)(?:<.*>)?(?:\(.*\))?$", kernel.removeprefix("void "))
        guessed = guess(file, word[1] if word else kernel, folders_in(options))
        return Source(file, options, [(one.name, one.dtype) for one in guessed.parameters])

    return main(arguments, check_name, source)


def check(arguments: Sequence[str]) -> int:
    """Check the kernels of a file, and print what was found; the exit status that says so.

    Raises UserError where a file can't be read, or has no kernel.
    """
    parser = argparse.ArgumentParser(
        prog="kernelsweep check",
        description="Run a file's kernels on the emulator, with arguments made from their signatures, and watch each "
        "access: races, bounds, alignment, barriers, reads of what nothing has written. Results are not judged.",
        epilog="Exit status: 0 nothing found, 1 a mistake, 2 not all could be checked, 3 what may be a mistake.",
    )
    parser.add_argument("file", type=Path, help="a .cu file or a header with kernels")
    parser.add_argument("--kernel", default="", help="one kernel of the file; left out: all")
    parser.add_argument("--case", action="append", default=[], metavar="n=1000,m=3", help="sizes, in place of guesses")
    parser.add_argument(
        "--elements", default="", metavar="x=n*m,y=n", help="sizes of arrays, in place of what is learnt"
    )
    for side in ("grid", "block", "shared"):
        parser.add_argument(f"--{side}", default="", metavar="N", help="numbers, or expressions such as n/256,m")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a macro")
    parser.add_argument("-I", action="append", default=[], metavar="DIR", help="a folder of headers")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="run each point in N orders of its threads")
    parser.add_argument("--json", action="store_true", help="print a list of records, one a kernel")
    given = parser.parse_args(arguments)
    from kernelsweep.project.check import Given, check_file, read_case, read_elements
    from kernelsweep.project.checked import as_values

    options = [f"-D{one}" for one in given.D] + [f"-I{one}" for one in given.I]
    launch = ([read_case(one) for one in given.case], given.grid, given.block, given.shared)
    elements = read_elements(given.elements) if given.elements else {}
    results, refused = [], dict[str, str]()
    for result in check_file(given.file, given.kernel, Given(*launch, options, seeds=given.seeds, elements=elements)):
        results.append(result)
        if not given.json:
            why = result.unchecked.get("", "")
            if "\n" in why and (first := refused.setdefault(why, result.kernel)) != result.kernel:
                result = replace(result, unchecked={"": f"for the same reason as {first}."})
            print(fitted(str(result), get_terminal_size().columns), flush=True)
    if given.json:
        print(json.dumps([as_values(one) for one in results], indent=1))
    statuses = {one.status for one in results}
    return 1 if 1 in statuses else max(statuses)


if __name__ == "__main__":
    main()
