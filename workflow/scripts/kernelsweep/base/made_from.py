"""What a job's outputs were made from, in a file beside them: by that, a start decides whether the job runs again.

Snakemake's own memory, .snakemake/, can be lost or be another checkout's, and an older file can take a file's place. So
a job's outputs count only as long as its parameters, its inputs and the outputs themselves have the hashes in its file.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernelsweep.base.code_hash import code_hash, sha256_of
from kernelsweep.base.json_files import write_json
from kernelsweep.base.plain_files import read_text
from kernelsweep.plans import IN_WORDS, OF_MACHINE, StoryPlan, reasons

# The parameter that names a job's file, and the input by which Snakemake runs a job again. Neither counts.
PARAMETER, INPUT = "made_from", "out_of_date"

Sources = Mapping[str, Any]

# What a damaged file, or one of another version, can raise.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)


def sources_of(parameters: Mapping[str, Any], inputs: Iterable[str]) -> Sources:
    """The hashes of a job's parameters and inputs as they are now; None for an input that is not there.

    Of the code of kernels and problems, comments don't count (code_hash.py), but for a job that shows them.
    """
    with_story = isinstance(parameters.get("plan"), StoryPlan)
    return {
        "parameters": _hashes_of(parameters),
        "inputs": {file: _hash(file, True, with_story) if os.path.exists(file) else None for file in inputs},
    }


def _hashes_of(parameters: Mapping[str, Any], left_out: str = "") -> dict[str, str]:
    """A hash of each parameter, and of each field of a plan, without the values under a key."""
    given = {name: value for name, value in parameters.items() if name != PARAMETER}
    if is_dataclass(plan := given.get("plan")):
        given |= {"plan": type(plan).__name__, **reasons(plan)}
    hashes = {}
    for name, value in given.items():
        text = json.dumps(value, sort_keys=True, default=_plain)
        if left_out:
            text = json.dumps(json.loads(text, object_hook=lambda found: found | {left_out: None}))
        hashes[name] = hashlib.sha256(text.encode()).hexdigest()
    return hashes


def _plain(value: Any) -> Any:
    return reasons(value) if is_dataclass(value) else repr(value)


def sources_of_job(job: Any) -> Sources:
    """The same of a running job, the `snakemake` of its script; its parameters as planned, if they are the same here.

    They aren't if their user has edited the configuration while the job waited for another machine.
    """
    sources = sources_of(job.params, [file for file in job.input if file != job.input[INPUT]])
    planned = job.params[PARAMETER]["planned"]
    is_same = planned.get("on_any_machine") == _hashes_of(job.params, OF_MACHINE)
    return {**sources, "parameters": planned["parameters"]} if is_same else sources


def keep(file: str, sources: Sources, outputs: Iterable[str]) -> None:
    """Note in a job's file what its outputs, which are there now, were made from."""
    # Snakemake makes the empty marks of jobs without other outputs after them.
    made = {output: _hash(output if os.path.exists(output) else os.devnull) for output in outputs}
    write_json(file, {**sources, "outputs": made})


def reason_to_run(file: str, sources: Sources, outputs: Iterable[str]) -> str:
    """Why a job runs again, such as "kernels/matmul/naive.cu changed"; "" if its outputs, which are there, are current.

    They are if the job's file says that they were made from these sources, and nobody has changed them since. An input
    that is not there is no reason to run a job: another job makes it, or has deleted it.
    """
    try:
        kept = json.loads(read_text(file))
        inputs = {name: now or kept["inputs"][name] for name, now in sources["inputs"].items()}
        made = {output: _hash(output) for output in outputs}
        return (
            _difference(kept["inputs"], inputs)
            or _difference(kept["parameters"], sources["parameters"])
            or _difference({output: kept["outputs"][output] for output in made}, made)
        )
    except _UNREADABLE:
        return f"{file}, the record of what its results were made from, is missing or of another version"


def _difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The first name whose hash differs, in words; "" without one."""
    changed = next((name for name in {**now, **before} if now.get(name) != before.get(name)), "")
    how = "changed" if changed in now and changed in before else "is new" if changed in now else "is no longer read"
    return changed and f"{IN_WORDS.get(changed, changed)} {how}"


def plan(file: str, parameters: Mapping[str, Any]) -> None:
    """Leave the hashes of a job's parameters to the machine that will run it, where a compiler's release may differ."""
    hashes = {"parameters": _hashes_of(parameters), "on_any_machine": _hashes_of(parameters, OF_MACHINE)}
    write_json(f"{file}.planned", hashes)


def planned(file: str) -> dict[str, Any]:
    """What plan() has left; nothing if it was not called."""
    with suppress(*_UNREADABLE):
        return dict(json.loads(read_text(f"{file}.planned")))
    return {}


def _hash(file: str | Path, is_input: bool = False, with_story: bool = False) -> str:
    """A hash of a file, or of an input's code; or of all files in a folder but Snakemake's mark; "" for a pipe."""
    if os.path.isdir(file):
        files = sorted(path for path in Path(file).rglob("[!.]*") if path.is_file())
        content = [(path.relative_to(file).as_posix(), _hash(path)) for path in files]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()
    now = os.stat(file)
    if stat.S_ISFIFO(now.st_mode):  # To read it may have no end.
        return ""
    return _hash_of_file(file, is_input, with_story, now.st_ino, now.st_size, now.st_ctime_ns)


# All jobs of a start read the same files. ctime is when a file was last changed, and nobody can set it back.
@cache
def _hash_of_file(file: str | Path, is_input: bool, with_story: bool, *_: int) -> str:
    return code_hash([Path(file)], with_story) if is_input else sha256_of(file)
