"""The command ``kernelsweep``, which an installation has: Snakemake with kernelsweep's Snakefile, in any folder.

    kernelsweep check FILE.cu       watch a file's kernels on the emulator, without a study (check --help)
    kernelsweep new NAME            start a study in this folder: its YAML file, a kernel, and a problem.py
    kernelsweep new NAME FILE.cu    the same with a copy of your kernel, whose parameters the other files name
    kernelsweep ...                 snakemake -s <kernelsweep's Snakefile> ...

So ``kernelsweep sgemm`` sweeps the study ``sgemm`` of this folder, and ``kernelsweep compare`` tells what an edit did.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from kernelsweep.build.device_code import kernel_heads
from kernelsweep.errors import UserError
from kernelsweep.home import HOME
from kernelsweep.project.last_words import without_stack
from kernelsweep.sweep.kernels.source import read_source
from kernelsweep.sweep.settings import read_yaml

_TEMPLATES = HOME / "examples/new-study"
_DTYPES = {"double": "float64", "size_t": "uint64", "long": "int64", "unsigned": "uint32", "int": "int32"}
_MADE_OF = {"cudaTextureObject_t": "texture({})", "CUtensorMap": '"tensor_map({}, 64)"'}
_PROBLEM = '''"""What {kernel} computes. Shapes and values are guesses: docs/your-kernel.md has what to write."""

import numpy as np


def inputs(random, {size}):
    return {{{inputs}}}


def outputs({size}):
    return {{{outputs}}}


def reference({read}):
    raise NotImplementedError("write the right results of {results} here, in NumPy")
'''


def main() -> None:
    """Run the command line's command. A mistake ends it with status 1 and a sentence."""
    arguments = sys.argv[1:]
    try:
        if not arguments or arguments[0] in ("-h", "--help"):
            sys.exit(f"{__doc__}\nSnakemake's options hold: snakemake --help. Documents: {HOME / 'docs/README.md'}")
        if arguments[0] == "check":
            sys.exit(check(arguments[1:]))
        if arguments[0] == "new":
            print(start_study(arguments[1:]))
        else:
            _run_snakemake(["-s", str(HOME / "Snakefile"), *arguments])
    except UserError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:  # In the first second; later, the rules answer it.
        sys.exit(1)


def _run_snakemake(arguments: Sequence[str]) -> None:
    from snakemake import cli  # which takes a second
    from snakemake.logging import logger

    # Jobs run Snakemake and Python by their names.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    sys.argv = ["kernelsweep", *arguments]
    argparse.ArgumentParser.print_usage = lambda *_: None  # type: ignore[method-assign]  # 150 lines above an error
    logger.addFilter(without_stack)
    cli.print = lambda *_, **__: None  # which profile it uses, on a line of its own
    try:
        parser, parsed = cli.parse_args(None)
    except Exception as error:  # Of a profile.
        sys.exit(f"{type(error).__name__}: {error}")
    del cli.print
    for file in parsed.configfile or ():  # Snakemake's exceptions don't name it.
        read_yaml(Path(file), str(file))
    sys.exit(0 if cli.args_to_api(parsed, parser) else 1)


def check(arguments: Sequence[str]) -> int:
    """Check the kernels of a file, and print what was found; the exit status that says so.

    Raises UserError where a file can't be read, or has no kernel.
    """
    parser = argparse.ArgumentParser(
        prog="kernelsweep check",
        description="Run a file's kernels on the emulator, with arguments made from their signatures, and watch each "
        "access: races, bounds, alignment, barriers, reads of what nothing has written. Results are not judged.",
        epilog="Exit status: 0 nothing found, 1 a mistake found, 2 a kernel could not be checked.",
    )
    parser.add_argument("file", type=Path, help="a .cu file or a header with kernels")
    parser.add_argument("--kernel", default="", help="one kernel of the file; left out: all")
    parser.add_argument("--case", action="append", default=[], metavar="n=1000,m=3", help="sizes, in place of guesses")
    for side in ("grid", "block", "shared"):
        parser.add_argument(f"--{side}", default="", metavar="N", help="numbers, or expressions such as n/256,m")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a macro")
    parser.add_argument("-I", action="append", default=[], metavar="DIR", help="a folder of headers")
    parser.add_argument("--json", action="store_true", help="print a list of records, one a kernel")
    given = parser.parse_args(arguments)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # Workers are forks of a process with one thread.
    from kernelsweep.project.check import Given, as_values, check_file, read_case

    options = [f"-D{one}" for one in given.D] + [f"-I{one}" for one in given.I]
    cases = [read_case(one) for one in given.case]
    results = []
    for result in check_file(given.file, given.kernel, Given(cases, given.grid, given.block, given.shared, options)):
        results.append(result)
        if not given.json:
            print(result, flush=True)
    if given.json:
        print(json.dumps([as_values(one) for one in results], indent=1))
    statuses = {one.status for one in results}
    return 1 if 1 in statuses else max(statuses)


def start_study(arguments: Sequence[str]) -> str:
    """Write a study's three files into the working directory; a sentence that says so.

    arguments  the study's name, and perhaps the file of a kernel

    Raises UserError for another command line, for a file without the kernel, and where a file of the study exists.
    """
    if len(arguments) not in (1, 2) or not re.fullmatch("[a-z][a-z0-9_]*", arguments[0]):
        raise UserError("usage: kernelsweep new NAME [FILE.cu]; NAME has lower-case letters, digits and _")
    from kernelsweep.project.project import check_study_names  # which other commands import later

    check_study_names(arguments[:1], Path.cwd())
    name, *kernel_files = arguments
    study, kernel, problem = ((_TEMPLATES / file).read_text(encoding="utf-8") for file in _FILES)
    if kernel_files:
        kernel = read_source(Path(kernel_files[0]))
        study, problem = _texts_for(kernel, name, kernel_files[0], study)
    folder = Path("kernels", name)
    written = {
        Path(f"config/studies/{name}.yaml"): study,
        folder / f"{name}.cu": kernel,
        folder / "problem.py": problem,
    }
    for path in written:
        if path.exists():
            raise UserError(f"{path} exists already. Choose another name, or move it away.")
    for path, text in written.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        schemas = os.path.relpath(HOME / "workflow/schemas", path.parent)
        own = path.suffix == ".cu" and kernel_files
        path.write_text(text if own else text.replace("NAME", name).replace("SCHEMAS", schemas), encoding="utf-8")
    return f"Written: {', '.join(map(str, written))}. Run it: kernelsweep {name}"


_FILES = ("study.yaml", "kernel.cu", "problem.py")


def _texts_for(source: str, name: str, file: str, study: str) -> tuple[str, str]:
    """The study and the problem of the kernel with the study's name, else of the file's first. Raises UserError."""
    kernels = kernel_heads(source)
    if not kernels:
        raise UserError(f"{file} has no __global__ at all.")
    kernel = name if name in kernels else next(iter(kernels))
    function, template, parameters = kernels[kernel]
    fixed = [text for text in template if "=" not in text]  # Others have a default.
    types = {re.findall(r"\w+", text)[-1]: text.removeprefix("const ").split()[0] for text in fixed}
    names = {re.findall(r"\w+", parameter)[-1]: parameter for parameter in parameters}
    made = {name: form.format(name) for name in names for kind, form in _MADE_OF.items() if kind in names[name]}
    arrays = {
        name: "const" not in parameter and name not in made
        for name, parameter in names.items()
        if name in made or re.search(r"[*\[]", parameter)
    }
    scalars = [name for name in names if name not in arrays]
    integers = [name for name in scalars if re.search(r"\b(int|unsigned|size_t|long|u?int\d+_t)\b", names[name])]
    size = integers[0] if integers else "n"
    read = [name for name, written in arrays.items() if not written]
    drawn = {name: "random" if "float" in _dtype(names[name]) else "integers" for name in read}
    sizes = {"random": size, "integers": f"0, 100, {size}"}
    inputs = [f'"{name}": random.{by}({sizes[by]}).astype({_dtype(names[name])})' for name, by in drawn.items()]
    inputs += [f'"{name}": {_dtype(names[name])}(1)' for name in scalars if name != size]
    outputs = [f'"{name}": ({size}, {_dtype(names[name])})' for name, written in arrays.items() if written]
    problem = _PROBLEM.format(
        kernel=kernel,
        size=size,
        inputs=", ".join(inputs),
        outputs=", ".join(outputs),
        read=", ".join(read),
        results=" and ".join(name for name, written in arrays.items() if written),
    )
    listed = ", ".join(made.get(name, name) for name in names)
    study = re.sub(r"\bn\b", size, study).replace("[y, x, factor, " + size + "]", f"[{listed}]")
    guesses = {
        name: "float32" if kind in ("typename", "class") else int(kind == "bool") or 32 for name, kind in types.items()
    }
    axes = "".join(f"  {name}: [{value}]\n" for name, value in guesses.items() if name not in ("block", size))
    study = study.replace("- grid:", f"- kernel: {function}<{', '.join(types)}>\n        grid:".replace("<>", ""))
    return study.replace("\n# The emulator", f"{axes}\n# The emulator"), problem


def _dtype(parameter: str) -> str:
    """NumPy's type for a parameter's; float32 for a type that is not C++'s own."""
    words = re.findall(r"\w+", parameter)
    sized = next((word[:-2] for word in words if re.fullmatch(r"u?int\d+_t", word)), "float32")
    return "np." + next((dtype for word, dtype in _DTYPES.items() if word in words), sized)


if __name__ == "__main__":
    main()
