"""Candidates for the target grade: untrusted kernels, each as one more kernel of a study (docs/grading.md).

They solve the study's problem with the launches of one of its kernels. To the study's points come some that nobody can
know before: their sizes, configurations and numbers are drawn by a secret of this machine.
"""

from __future__ import annotations

import os
import random
import re
import secrets
import signal
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

from kernelsweep.base.cxx import cxx_code
from kernelsweep.base.json_files import read_json
from kernelsweep.compile.candidate_code import ASSEMBLY, check_source
from kernelsweep.compile.device_code import kernel_heads
from kernelsweep.errors import UserError, check_known, in_a_line
from kernelsweep.home import include_folders
from kernelsweep.project.files import path
from kernelsweep.study.kernels.source import included_files, read_source
from kernelsweep.study.kernels.units import EMULATOR
from kernelsweep.study.point import AS_GIVEN, Point
from kernelsweep.study.problem.drawn import DRAWN, EXTREMES, FEW_BITS, NAN
from kernelsweep.study.resolve import kernel_axes, points_of_axes
from kernelsweep.study.settings import CONFIG_FILE, Config, read_yaml
from kernelsweep.study.spaces import ValidPoints
from kernelsweep.study.study import Study, checked_study

# Which points of a kernel are drawn: so many of other sizes, and so many of each kind of numbers.
_OTHER_SIZES, _OF_EACH_KIND = 6, 2
_CONSIDERED = 4_000
# From this size on, a larger one may not fit into memory.
_LARGE = 2**16
# What a size is rounded to, since a problem may have only such.
_ROUNDED_TO = (1, 1, 1, 4, 8, 16, 32, 64, 128)

# What a study's graded kernels keep of it.
_KEPT = (
    *("title", "data", "axes", "restrictions", "tied", "cxx", "problem", "platforms", "reference", "kernels"),
    "compares",
)
# What a candidate keeps of the kernel whose launches it takes, and what a file x.yaml beside x.cu may say instead.
_OF_KERNEL = ("axes", "platforms", "restrictions", "results", "updates", "roundings")
_OWN = ("function", "macros", "constants", "variables", "shared", "arrays", "launches", "options")
# Options of nvcc that name no file, program or folder.
_OPTION = re.compile(
    r"-?-use_fast_math|-?-maxrregcount=\d+|-O[0-3]|-?-(?:fmad|ftz|prec-div|prec-sqrt)=(?:true|false)"
    r"|-?-extra-device-vectorization|-?-expt-(?:relaxed-constexpr|extended-lambda)|-?-std=c\+\+\d\d|-D\w+(?:=\w+)?"
)
_REPEATED = re.compile(r"(.+?)\1{9}")
_LARGEST_SOURCE, _LARGEST_SETTINGS = 2**20, 2**12
_READING_SECONDS = 60


@dataclass(frozen=True)
class Candidate:
    """An untrusted kernel's file; why it is refused, or ""; and findings in its source, by check."""

    file: str
    refused: str = ""
    findings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Grading:
    """The candidates by name, the study that has them and the kernel that they are compared with, and drawn points.

    drawn  by platform, the points that nobody knows, as the values of their axes
    """

    study: str
    of_study: str
    against: str
    candidates: Mapping[str, Candidate]
    drawn: Mapping[str, Sequence[Mapping[str, Any]]]


def graded(
    config: Config, studies: Mapping[str, Study], root: Path, platforms: Sequence[str]
) -> tuple[Config, Study, Grading]:
    """The run's configuration, the study of its candidates, and the candidates.

    Raises UserError where the command line names no study, kernel or file. A candidate with a mistake is refused.
    """
    of_study = config.study or "".join(list(studies)[: len(studies) == 1])
    check_known(of_study, studies, f"{CONFIG_FILE}: study is")
    data = read_yaml(root / studies[of_study].file, studies[of_study].file)
    entries = {entry["name"]: entry for entry in data["kernels"]}
    against = config.against or [*entries][-1]
    check_known(against, entries, f"{CONFIG_FILE}: against is")
    base = {**entries[against], "from": entries[against].get("from", of_study)}
    kept = {name: data[name] for name in _KEPT if name in data} | {"kernels": [base]}
    kept["axes"] = {**kept["axes"], DRAWN: [AS_GIVEN]}
    name, seed = f"{of_study}_graded", _secret_seed(root, of_study)
    config = config.changed(sweep="full", studies=[name], seed=seed, platform=[*platforms])

    def study(further: Sequence[Mapping[str, Any]], more: Mapping[str, Any], files: Mapping[str, Path]) -> Study:
        read = {**kept, "kernels": [base, *more.values()], "further": further}
        return checked_study(name, root, read, studies[of_study].file, files, against)

    for one, kind in product({*platforms, EMULATOR}, ("points", "samples", "journal")):
        folder = (root / path(kind, platform=one, study=name)).parent
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)  # What is drawn is in these files.
    alone = study([], {}, {})
    _check_count(config, alone, against, platforms)
    sizes = _sizes(config, alone, against, seed)
    drawn = {one: [*_drawn(config, alone, against, one, sizes, random.Random(seed))] for one in {*platforms, EMULATOR}}
    refused = [point for point in drawn[EMULATOR] if not _is_possible(alone, against, point, seed)]
    # Where such small points are refused, nobody knows of large ones.
    kinds = {point[DRAWN] for point in refused}
    for one, points in drawn.items():
        drawn[one] = [p for p in points if (p not in refused if one == EMULATOR else p[DRAWN] not in kinds)]
    layers = []
    for of_each in zip_longest(*drawn.values()):
        axes_of = {one: point.items() for one, point in zip(drawn, of_each, strict=True) if point}
        known = {one: {axis: [value] for axis, value in axes if value is not None} for one, axes in axes_of.items()}
        layers.append({"platforms": {one: {"axes": axes} for one, axes in known.items()}})
    candidates, more, files = {}, {}, {}
    of_candidates = _files(config, against)
    others = {file.resolve() for file in of_candidates.values()}
    for each, file in of_candidates.items():
        try:
            with _in_time(file):
                candidates[each] = _checked(file, root, others)
                entry = _entry(each, file, root, base, candidates[each].findings)
                study([], {each: entry}, {each: file.resolve()})
            more[each], files[each] = entry, file.resolve()
        except Exception as error:  # Whatever a stranger's file does to what reads it.
            candidates[each] = Candidate(str(file), in_a_line(error))
    return config, study(layers, more, files), Grading(name, of_study, against, candidates, drawn)


@contextmanager
def _in_time(file: Path) -> Iterator[None]:
    """Raise UserError where a file keeps what reads it busy for _READING_SECONDS on a processor."""

    def end(*_: object) -> None:
        raise UserError(f"{file} took more than {_READING_SECONDS} s to read.")

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, _READING_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def exit_status(targets: Sequence[str], verdict: Path) -> int:
    """The exit status of a failed run of these targets: the one in verdict.json, if it was to grade and nothing else.

    1 where a candidate is wrong, 2 where one is only not proven.
    """
    return int(read_json(verdict)["status"]) if [*targets] == ["grade"] and verdict.is_file() else 1


def _secret_seed(root: Path, study: str) -> int:
    """The seed of a study's candidates: nobody knows it before, and it stays, so that nothing is measured twice."""
    file = root / path("secret")
    if not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_text(secrets.token_hex(16), encoding="utf-8")
    return int(sha256(f"{file.read_text(encoding='utf-8')} {study}".encode()).hexdigest()[:15], 16)


def _check_count(config: Config, study: Study, kernel: str, platforms: Sequence[str]) -> None:
    for platform in platforms:
        count = len(points_of_axes(study, kernel, kernel_axes(config, study, kernel, platform)))
        if count > config.points_per_job:
            raise UserError(
                f"grade runs every point, and {kernel} has {count:,} on {platform}. Choose some, such as "
                "--config 'axes={block_size: [256]}'."
            )


# Points that nobody knows


def _sizes(config: Config, study: Study, kernel: str, seed: int) -> list[str]:
    """The axes by which arrays grow. Others, such as a number of bins, may have no other values than the study's."""
    points = points_of_axes(study, kernel, kernel_axes(config, study, kernel, EMULATOR)[:1])
    found = []
    for axis in study.problem.size_axes if len(points) else ():
        point = max(points, key=study.problem.size)
        with suppress(UserError, TypeError, ValueError):
            before, after = (
                [array.size for array in study.problem.instance(kernel, one, seed).arrays().values()]
                for one in (point, point.at(**{axis: point[axis] - 1}))
            )
            found += [axis] if before != after else []
    return found


def _drawn(
    config: Config, study: Study, kernel: str, platform: str, sizes: Sequence[str], chance: random.Random
) -> Iterator[Point]:
    """Points of other sizes, and points of each kind of extreme numbers."""
    axes = kernel_axes(config, study, kernel, platform)[0]
    tied, there = study.settings.tied, points_of_axes(study, kernel, [axes])
    groups = [group for group in tied if {*group} & {*sizes}]
    groups += [[axis] for axis in sizes if not any(axis in group for group in tied)]
    known = {tuple(point[axis] for axis in sizes) for point in there}
    others = {**axes}
    for group in groups:
        rows = list(zip(*(axes[axis] for axis in group), strict=True))
        rows = [rows[0], rows[-1]] if len(group) == 1 else rows
        made = [
            [_other(value, step, chance) if axis in sizes else value for axis, value in zip(group, row, strict=True)]
            for row in rows
            for step in _ROUNDED_TO
        ]
        others |= {axis: list(values) for axis, values in zip(group, zip(*made, strict=True), strict=True)}
    found: dict[tuple[Any, ...], Point] = {}
    ragged = _some(points_of_axes(study, kernel, [others]), chance)
    for point in sorted(ragged, key=lambda point: -sum(point[axis] % 2 for axis in sizes)):
        size = tuple(point[axis] for axis in sizes)
        if size not in known and len(found) < _OTHER_SIZES:
            found.setdefault(size, point)
    yield from found.values()
    of_study = sorted(_some(there, chance), key=study.problem.size)
    says = study.problem.module.names.get
    named = {NAN: says("TAKES_NAN"), FEW_BITS: says("EXACT_ON_FEW_BITS")}
    for kind in (*EXTREMES, *filter(named.get, named)):
        middle = of_study[len(of_study) // 3 : 1 + 2 * len(of_study) // 3]
        for point in chance.sample(middle, min(_OF_EACH_KIND, len(middle))):
            yield point.at(**{DRAWN: kind})


def _other(value: Any, step: int, chance: random.Random) -> Any:
    """A size of half to five quarters of the given one, rounded to a multiple; other values stay."""
    if not isinstance(value, int):
        return value
    other = chance.randint(value // 2 + 1, max(2, value if value >= _LARGE else value * 5 // 4))
    return max(other - other % step, min(step, value), 1)


def _some(points: ValidPoints, chance: random.Random) -> list[Point]:
    return [points[number] for number in chance.sample(range(len(points)), min(_CONSIDERED, len(points)))]


def _is_possible(study: Study, kernel: str, point: Point, seed: int) -> bool:
    """Whether the problem has right results at a point that its author did not choose."""
    with suppress(UserError):
        study.problem.instance(kernel, point, seed).check()
        return True
    return False


# A candidate's files


def _files(config: Config, against: str) -> dict[str, Path]:
    named = Path(config.candidate)
    within = (Path(at, name) for at, _, names in os.walk(named) for name in names if name.endswith(".cu"))
    files = sorted(within) if named.is_dir() else [named] if named.is_file() else []
    if not named.exists():
        raise UserError(f"candidate={named}: no such file.")
    if not files:
        raise UserError(f"{CONFIG_FILE}: {named} is no kernel's file, and no folder with some (*.cu).")
    found: dict[str, Path] = {}
    for file in files:
        parts = file.relative_to(named).parts if named.is_dir() else (file.name,)
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", "_".join(parts)[:-3]).lstrip(".-") or "candidate"
        if len(name) > 90 or _REPEATED.search(name):  # which file systems and Snakemake refuse
            name = f"{name[:20]}-{sha256(name.encode()).hexdigest()[:8]}"
        name += "_candidate" * (name == against)
        while name in found:
            name += "_"
        found[name] = file
    return found


def _checked(file: Path, root: Path, others: Collection[Path]) -> Candidate:
    """A candidate with what its source shows. Raises UserError for what no candidate may have.

    others  the candidates' files
    """
    own = [file.resolve().parent, *(Path(name).resolve() for name in include_folders(root))]
    whole = str(file.resolve())
    if file.is_symlink() or not file.is_file() or re.search(r'[{}<>":\\]', whole) or not whole.isprintable():
        raise UserError(f"{file} is no plain file, or its path has a character that compilers or Snakemake misread.")
    findings: dict[str, str] = {}
    for each in (file, *included_files(file, [Path(name) for name in include_folders(root)])):
        if not any(each.resolve().is_relative_to(folder) for folder in own):
            raise UserError(f"{file} includes {each}. Allowed: headers beside it, and CUDA's.")
        if each.resolve() != file.resolve() and each.resolve() in others:
            raise UserError(f"{file} includes {each}, another candidate.")
        if each.stat().st_size > _LARGEST_SOURCE:
            raise UserError(f"{each} has {each.stat().st_size:,} bytes. Allowed: {_LARGEST_SOURCE:,}.")
        findings |= check_source(read_source(each), str(each))
    return Candidate(str(file), findings=findings)


def _check_launched(file: Path, root: Path, kernels: Sequence[str]) -> None:
    """Raise UserError for a kernel of the launches that neither a candidate nor its headers name."""
    files = (file, *included_files(file, [Path(name) for name in include_folders(root)]))
    text = "\n".join(cxx_code(read_source(each)) for each in files)
    for wanted in (kernel.partition("<")[0].rpartition("::")[2].strip() for kernel in kernels):
        if not re.search(rf"\b{re.escape(wanted)}\b|##", text):
            found = ", ".join(kernel_heads(read_source(file))) or "no kernel"
            beside = file.with_suffix(".yaml").name
            raise UserError(f"{file} has {found}, not {wanted}. Call it {wanted}, or write its launches in {beside}.")


def _entry(name: str, file: Path, root: Path, base: Mapping[str, Any], findings: Mapping[str, str]) -> dict[str, Any]:
    """A candidate's settings: those of the kernel whose launches it takes, or its own. Raises UserError."""
    kept = {key: base[key] for key in (*_OF_KERNEL, *_OWN) if key in base and key != "options"}
    beside = file.with_suffix(".yaml")
    own = {}
    if beside.is_file() and not beside.is_symlink():
        if beside.stat().st_size > _LARGEST_SETTINGS or b"&" in beside.read_bytes():
            raise UserError(f"{beside} has more than {_LARGEST_SETTINGS:,} bytes, or an &, which no settings need.")
        own = read_yaml(beside, str(beside))
    for key in own:
        if key not in _OWN:
            raise UserError(f"{beside} has {key!r}. A candidate may say {', '.join(_OWN)}.")
    for option in own.get("options") or ():
        if not _OPTION.fullmatch(str(option)):
            raise UserError(f"{beside}: options has {option!r}. Allowed are those that name no file and no program.")
    entry = {**kept, **own, "name": name}
    launches = entry.get("launches") or []
    wanted, *arguments = str(entry.get("function") or base["name"]).partition("<")
    if not launches or not all(isinstance(launch, dict) and launch.get("kernel") for launch in launches):
        kernels = [*kernel_heads(read_source(file))]
        if wanted.strip() not in kernels and len(kernels) != 1:
            raise UserError(f"{file} has the kernels {', '.join(kernels) or 'none'}. Call one {wanted.strip()}.")
        entry["function"] = "".join((wanted.strip() if wanted.strip() in kernels else kernels[0], *arguments))
    else:
        _check_launched(file, root, [str(launch["kernel"]) for launch in launches])
    return {**entry, "gpu_only": findings[ASSEMBLY]} if ASSEMBLY in findings else entry
