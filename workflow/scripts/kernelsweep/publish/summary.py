"""The summary that ends a run: points by status, and failed points by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kernelsweep.base.templates import markdown, markdown_table, sections
from kernelsweep.compile.device_code import host_variables
from kernelsweep.compile.unit_store import UnitStore, text_name
from kernelsweep.judge.data.proofs import (
    MISTAKES_TITLE,
    Proofs,
    clean_texts,
    explained_findings,
    mistakes_of,
    unproven,
)
from kernelsweep.judge.data.row_counts import LISTED_PER_KERNEL, CsvRow, PlannedKernel, RowCounts, studies_not_run
from kernelsweep.judge.data.words import list_texts, size_text, source_lines
from kernelsweep.results import ALL_POINT_COLUMNS, with_parameters
from kernelsweep.study.point import in_words
from kernelsweep.study.settings import StudySettings

# The title of the list of failed points.
FAILED = "Failed"
# All points of a kernel that doesn't compile fail for one reason.
_LISTED_OF_FAILED_BUILD = 1


def summary_text(
    counted: RowCounts,
    provenance: str,
    metrics: Iterable[Mapping[str, str]] = (),
    planned: Sequence[PlannedKernel] = (),
    proofs: Proofs | None = None,
) -> str:
    """The summary as Markdown: points by study and status, skipped points by reason, failed points by name.

    metrics  the rows of metrics.csv; those without a value are named
    planned  the run's plan: kernels that were not run are named
    proofs   of the kernels; None for a recording, which has none
    """
    skipped = [f"{study}/{kernel}, {count} points: {why}" for (study, kernel, why), count in counted.skipped.items()]
    not_run = [
        f"{kernel.study}/{kernel.kernel}: " + (kernel.cannot_run or "it has no rows, or every point was skipped")
        for kernel in planned
        if not counted.has_run(kernel)
    ]
    before = {
        "Skipped": skipped,
        **missing_metrics(metrics),
        "Not run": not_run,
        **unproven(proofs or {}, counted),
        **explained_findings(proofs or {}),
        "Wrong in an earlier run": [f"{_point_name(row)}: {row['message']}" for row in counted.once_wrong],
    }
    failed = sections({FAILED: _first_failed(counted)}) if counted.failed else _all_right(counted)
    after = sections({"Incomplete": incomplete_run(counted, planned)})
    parts = [
        f"# Summary: {counted.points.total()} points, {provenance}\n",
        f"{_table(counted, proofs)}\n",
        *(f"{line}\n" for line in counted.differing()),
        *filter(None, [sections(before), failed, after]),
    ]
    return "\n".join(parts)


def _table(counted: RowCounts, proofs: Proofs | None) -> str:
    statuses = list(counted.by_status())
    heads = {"study": False, **dict.fromkeys(statuses, True), **({"clean": False} if proofs is not None else {})}
    rows = []
    for study in dict.fromkeys(study for study, *_ in counted.points):
        clean = clean_texts(proof for (of, _), proof in (proofs or {}).items() if of == study)
        cells = [study, *(counted.by_status(study)[status] or "" for status in statuses), "; ".join(clean)]
        rows.append(list(map(str, cells[: len(heads)])))
    return markdown_table(heads, rows)


def incomplete_run(counted: RowCounts, planned: Sequence[PlannedKernel]) -> list[str]:
    """The reasons for which a run must not end well although no point failed: nothing was run."""
    nothing = "no point was run, so nothing was shown to be right. Its summary.md says why."
    mistakes = [(f"{study}/{kernel}", count, why) for (study, kernel, why), count in counted.mistakes.items() if count]
    return [
        *(f"study {study}: {nothing}" for study in studies_not_run(counted, planned)),
        *(f"{kernel}, {count} point{'s' if count > 1 else ''} not run: {why}" for kernel, count, why in mistakes),
    ]


def _all_right(counted: RowCounts) -> str:
    run = counted.points.total() - counted.skipped.total()
    return f"{all_right(bool(counted.excused))}.\n" if run else "**No point was run.**\n"


@dataclass(frozen=True)
class Failure:
    """A kernel with failed points.

    kernel   as `study/kernel`
    place    the line that the message or the change tells, from the repository's folder; else the kernel's file
    what     how many of its points failed, as a predicate: "all 84 points are wrong"
    message  what is wrong at one of them, or of the compiler
    where    which one that is
    since    what changed in its source since that point was right, as a difference of lines
    """

    kernel: str
    place: str
    what: str
    message: str
    where: str
    since: Sequence[str]

    @property
    def sentence(self) -> str:
        """All but the change, in three lines without the last full stop."""
        return f"{self.kernel}: {self.what} ({self.place})\n  {self.message}\n  {self.where}"


def failures(
    counted: RowCounts,
    planned: Sequence[PlannedKernel],
    studies: Mapping[str, StudySettings],
    since: Callable[[CsvRow], Sequence[str]],
    store: UnitStore,
    proofs: Proofs,
) -> list[Failure]:
    """The kernels with failed points, the worst first.

    studies  the settings of each, by name
    since    gives what changed in the source of a row's kernel since that point was right
    store    has the kernels' sources
    """
    files = {(one.study, one.kernel): one.file for one in planned}
    found = []
    for kernel, (example, *_) in _by_kernel(counted).items():
        what, message = _how_many(counted, kernel), " ".join(example["message"].split())
        where = "None of its points ran" if what == _REFUSED else f"First at {_place(example, studies[kernel[0]])}"
        where += _unset(example, studies[kernel[0]], store)
        file, changes = files.get(kernel, ""), since(example)
        found_by_checks = mistakes_of(proofs[kernel], counted) if kernel in proofs else []
        words = " ".join([message, *(row["message"] for row in found_by_checks)])
        told = re.search(rf"{re.escape(file)}:\d+", message) or _PLACE.search(words)
        changed = re.match(r"@@ (\S+) ", "".join(changes[:1]))
        place = told[0] if told else changed[1] if changed else file
        found.append(Failure("/".join(kernel), place, what, message, where, changes))
    return found


_REFUSED = "does not compile"
# A line of a file of the repository, such as one that the kernel's file includes.
_PLACE = re.compile(r"(?<!\S)[^\s/:]+/[^\s:]+\.\w+:\d+")


def _unset(row: CsvRow, study: StudySettings, store: UnitStore) -> str:
    """A sentence, after a full stop, on variables in constant memory that nothing sets; "" unless a result is wrong."""
    entry = next((one for one in study.kernels if one.name == row["kernel"]), None)
    if entry is None or row["status"] != "wrong_result":
        return ""
    usual = entry.function or entry.name
    functions = [launch.kernel or usual for launch in entry.launches] or [usual]
    known = {*entry.host_variables, *(str(one) for launch in entry.launches for one in launch.arguments)}
    found = host_variables(store.text(text_name(row["study"], entry.name, row["source_sha256"])), functions)
    unset = [name for name, text in found.items() if "__constant__" in text and name not in known]
    if not unset:
        return ""
    return f". Nothing sets the __constant__ {', '.join(unset)}, which is 0: name it in the kernel's `constants`"


def _how_many(counted: RowCounts, kernel: tuple[str, str]) -> str:
    """ "all 84 points are wrong"; "84 of 252 points are wrong"; "9 of 96 points failed: timed out"."""
    statuses = {status: count for (*of, status), count in counted.points.items() if tuple(of) == kernel}
    failed, run = counted.failed[kernel], sum(statuses.values()) - statuses.get("skipped", 0)
    count = f"all {run:,} points" if failed == run > 1 else f"{failed:,} of {run:,} points"
    if statuses.get("wrong_result") == failed:
        return f"{count} {'is' if failed == 1 else 'are'} wrong"
    if statuses.get("build_failed") == failed:
        return _REFUSED if failed == run else f"{count} do not compile"
    kinds = [status for status in statuses if status not in ("ok", "skipped")]
    return f"{count} failed: {list_texts(kinds).replace('_', ' ')}"


def _place(row: CsvRow, study: StudySettings) -> str:
    """The values on a row's axes, without conditions: "array size 1, block size 32, unroll 1, int32, sum"."""
    values = with_parameters(row)
    return in_words({axis: values.get(axis) for axis, kind in study.kinds.items() if kind != "condition"})


def failed_text(counted: RowCounts, proofs: Proofs, failed: Sequence[Failure]) -> str:
    """The kernels that failed or aren't proven, or that every point is right, as Markdown for the page.

    What was expected of undefined behaviour unfolds.
    """
    lists = unproven(proofs, counted)
    mistakes = lists.pop(MISTAKES_TITLE)
    return markdown(
        __file__,
        "failed",
        mistakes=sections({MISTAKES_TITLE: mistakes}),
        lines=["  ".join(line) for line in source_lines(" ".join(mistakes))],
        unproven=sections(lists),
        failures=failed,
        all_right="" if failed or (counted.run_in() and not counted.excused) else _all_right(counted),
        expected=sections(explained_findings(proofs)),
    )


def all_right(are_some_excused: bool) -> str:
    """The verdict on a run without failures.

    are_some_excused  whether undefined behaviour explains wrong results in it
    """
    besides = ", apart from kernels with undefined behaviour" if are_some_excused else ""
    return f"Every point that was run is right{besides}"


def _by_kernel(counted: RowCounts) -> dict[tuple[str, str], list[CsvRow]]:
    """The first failed rows of each kernel, wrong results first."""
    kernels = sorted(counted.failed, key=lambda name: not counted.points[(*name, "wrong_result")])
    return {
        kernel: sorted(counted.first_failed[kernel], key=lambda row: row["status"] != "wrong_result")
        for kernel in kernels
    }


def _first_failed(counted: RowCounts) -> list[str]:
    """The first failed points, the worst kernels first: a line each."""
    lines = []
    for (study, kernel), rows in _by_kernel(counted).items():
        listed = rows[: _LISTED_OF_FAILED_BUILD if rows[0]["status"] == "build_failed" else LISTED_PER_KERNEL]
        lines += [f"{_point_name(row)}: **{row['status']}**: {row['message']}" for row in listed]
        if more := counted.failed[study, kernel] - len(listed):
            lines.append(f"{study}/{kernel}: {more} more")
    return lines


def _point_name(row: CsvRow) -> str:
    """A row's kernel and its values on all axes, in words."""
    return f"{row['study']}/{row['kernel']}, {in_words({column: row.get(column) for column in ALL_POINT_COLUMNS})}"


def missing_metrics(rows: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """Why values of metrics.csv are empty, a list by title: each reason, its number of values, and their kernels."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row["value"] == "":
            reasons.setdefault(row["message"], []).append(f"{row['study']}/{row['kernel']}")
    kernels = {message: list_texts(list(dict.fromkeys(names))) for message, names in reasons.items()}
    listed = [f"{kernels[message]}, {len(names)} values: {message}" for message, names in reasons.items()]
    return {"Counters that are missing": listed}


def used_in_words(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """A sentence for each of the five worst kernels of own studies: the share of what it moves that it uses."""
    shares: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if (verb := _USED.get(row["metric"])) and row["value"] and not row["array_size"]:
            of_kernel = shares.setdefault((f"{row['study']}/{row['kernel']}", row["parameters"]), {})
            of_kernel[verb] = float(row["value"])
    return [
        f"{kernel} uses {' and '.join(f'{share:.0f}% of what it {verb}' for verb, share in used.items())}, at {place}."
        for (kernel, place), used in sorted(shares.items(), key=lambda one: min(one[1].values()))[:5]
    ]


_USED = {"global_load_efficiency": "loads", "global_store_efficiency": "stores"}

# What a warp's accesses to global memory move, as the emulator counts it.
_SECTORS = ("global_load_sectors", "global_store_sectors")


def sectors_in_words(rows: Iterable[Mapping[str, str]]) -> list[str]:
    """A sentence for each study that the emulator counted: the kernels that move the fewest and the most sectors.

    Then which configurations these are, and which studies are left out.

    rows  of metrics.csv. A kernel counts at its study's largest array, by its configuration with the fewest sectors
    """
    counts: dict[tuple[str, str], dict[tuple[int, str, str], float]] = {}
    for row in rows:
        if row["metric"] in _SECTORS and row["value"] and row["array_size"]:
            configuration = f"{row['block_size']}\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}{row['unroll']}"
            point = int(row["array_size"]), configuration, ",".join(row[axis] for axis in ALL_POINT_COLUMNS)
            of_kernel = counts.setdefault((row["study"], row["kernel"]), {})
            of_kernel[point] = of_kernel.get(point, 0.0) + float(row["value"])
    texts, alike = list[str](), list[str]()
    for study in dict.fromkeys(study for study, _ in counts):
        kernels = {kernel: of_kernel for (of, kernel), of_kernel in counts.items() if of == study}
        largest = max(size for of_kernel in kernels.values() for size, *_ in of_kernel)
        fewest = {
            f"{kernel} ({configuration})": count
            for kernel, of_kernel in kernels.items()
            for count, configuration in sorted((n, of) for (size, of, _), n in of_kernel.items() if size == largest)[:1]
        }
        least, most = min(fewest.values()), max(fewest.values())
        if most <= 1.05 * least:
            alike.append(study)
        elif least > 0:
            few, many = ([kernel for kernel, count in fewest.items() if count == end] for end in (least, most))
            texts.append(
                f"{study}, {size_text(largest)} elements: {list_texts(few)} move{'s' * (len(few) == 1)} "
                f"{least:,.0f} sectors, and {list_texts(many)} {most / least:.1f} times as many."
            )
    texts += ["In brackets: block size × unroll factor, where a kernel moves the fewest sectors."] if texts else []
    texts += [f"The kernels of {list_texts(alike)} move equally many sectors, within 5%."] if alike else []
    return texts
