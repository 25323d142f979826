"""Machine code that a Python file of the user's makes: its function `build`, called in a process of its own.

    python -m kernelsweep.compile.user_code FILE CODE ANSWER AXES

`build` names axes and `arch` (such as sm_90) as parameters, and returns {"code": a cubin's bytes or PTX, "entry": the
function's symbol, "shared": the bytes of dynamic shared memory, 0 by default}. The code is written to CODE, and the
rest to ANSWER as JSON.
"""

from __future__ import annotations

import json
import runpy
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kernelsweep.base.compilers import run_compiler
from kernelsweep.base.running import environment
from kernelsweep.compile import nvcc
from kernelsweep.errors import BuildError, shown_value
from kernelsweep.results import number_or_text
from kernelsweep.study.kernels.source import ARCH, FUNCTION, parameters_of

_LONGEST = 1800  # seconds that a call of it may take
_EXAMPLE = "{'code': ptx, 'entry': 'sums', 'shared': 1024}"


def compile_by_user(file: Path, cubin: Path, target: str, axes: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """The cubin of a configuration: nvcc's warnings, and what a build's report says of its function.

    axes  the values that `build` names, as texts

    Raises BuildError, in one sentence, for what `build` raises or returns, and where nvcc refuses its PTX.
    """
    code, told = cubin.with_suffix(".ptx"), cubin.with_suffix(".told")
    command = [sys.executable, "-m", __name__, str(file), str(code), str(told), json.dumps({**axes, ARCH: target})]
    run = run_compiler(command, PYTHONPATH=environment()["PYTHONPATH"])
    if run.returncode == -signal.SIGALRM:
        raise BuildError(f"{file}: build has not ended in {_LONGEST // 60} minutes.")
    if run.returncode != 0 or not told.is_file():
        raise BuildError(run.stderr.strip().rpartition("\n")[2] or f"{file}: build ended with status {run.returncode}")
    made = json.loads(told.read_text(encoding="utf-8"))
    if made["is_ptx"]:
        output = nvcc.compile_cubin(code, cubin, target, [])
        reports = nvcc.symbol_reports(nvcc.printed_resources(output), cubin)
    else:
        output = ""
        code.replace(cubin)
        try:
            reports = nvcc.symbol_reports(nvcc.resources_in(cubin, made["entry"]), cubin)
        except Exception as error:  # Whatever its readers meet in bytes that only begin as an ELF file.
            raise BuildError(f"{file}: build: its code begins as a cubin and is none: {error}") from error
    if made["entry"] not in reports:
        raise BuildError(
            f"{file}: build: its code has no kernel {made['entry']}; it has {', '.join(reports) or 'none'}"
        )
    return nvcc.warnings(output), {**reports[made["entry"]], "dynamic_shared_bytes": made["shared"]}


def _main(file: str, code: str, told: str, axes: str) -> None:
    signal.alarm(_LONGEST)
    given = {name: number_or_text(text) for name, text in json.loads(axes).items()}
    sys.path.insert(0, str(Path(file).absolute().parent))
    try:
        build = runpy.run_path(file)[FUNCTION]
        made = build(**{name: given[name] for name in parameters_of(Path(file), file)})
    except BaseException as error:
        words = " ".join(str(error).split())
        sys.exit(f"{file}: build raises {type(error).__name__} at {given}{': ' if words else ''}{words}")
    binary = made.get("code") if isinstance(made, dict) else None
    shared = made.get("shared", 0) if isinstance(made, dict) else None
    is_size = type(shared) is int and 0 <= shared < 2**31
    if not (isinstance(binary, bytes | str) and isinstance(made.get("entry"), str) and is_size):
        sys.exit(f"{file}: build returns {shown_value(made)} at {given}. It has to return {_EXAMPLE}.")
    is_ptx = not binary.startswith(b"\x7fELF") if isinstance(binary, bytes) else True
    Path(code).write_bytes(binary.encode() if isinstance(binary, str) else binary)
    answer = {"is_ptx": is_ptx, "entry": made["entry"], "shared": shared}
    Path(told).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    _main(*sys.argv[1:])
