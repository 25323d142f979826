"""Plant mistakes in the project, one at a time, and say which of them its tests find.

    uv run python benchmarks/mutants.py [--tests CHECKOUT/tests] [WORD ...]

It mutates a copy of the checkout. With words, it plants only mistakes in files whose paths have one of them; with
--tests, it uses the tests of another checkout, to compare tests before and after a change of them. The exit status is
the number of mistakes that no test found.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "workflow/scripts/kernelsweep"
# pytest's exit statuses
PASSED, FAILED = 0, 1


@dataclass(frozen=True)
class Mutant:
    """A mistake: `old` in a file becomes `new`. `tests` are pytest's arguments for the tests that should find it."""

    file: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def words(self) -> str:
        """The mistake in a line."""
        old, new = (" ".join(text.split()) or "nothing" for text in (self.old, self.new))
        return f"{self.file}: {old} -> {new}"


def _of_kernels(words: str) -> tuple[str, ...]:
    """The tests of the kernels whose names have these words."""
    return ("tests/platforms/test_kernels.py", "-k", words)


_MEASURE = ("tests/measure/test_measure.py",)
_JOURNAL = ("tests/measure/test_journal.py",)
_STATISTICS = ("tests/test_statistics.py", "tests/test_intervals.py")

MUTANTS = [
    # Kernels
    Mutant("kernels/include/warp.cuh", "warp_lanes / 2", "warp_lanes / 4", _of_kernels("last_warp_shuffled")),
    Mutant("kernels/include/warp.cuh", "lane_mask > 0", "lane_mask > 1", _of_kernels("last_warp_shuffled")),
    Mutant("kernels/unrolling/unrolled.cu", "blockDim.x * unroll", "blockDim.x", _of_kernels("unrolling/unrolled")),
    Mutant("kernels/unrolling/unrolled.cu", "blockDim.x / 2", "blockDim.x / 4", _of_kernels("unrolling/unrolled")),
    Mutant("kernels/staged/staged_shared.cu", "stride > 0", "stride > 1", _of_kernels("staged/staged_shared")),
    Mutant("kernels/warp_shuffle/shuffle.cu", "lane < warps", "lane + 1 < warps", _of_kernels("warp_shuffle/shuffle")),
    Mutant("kernels/include/vectors.cuh", "< parts.tail", "+ 1 < parts.tail", _of_kernels("vector_loads")),
    Mutant("kernels/include/vectors.cuh", "vector += round", "vector += 2 * round", _of_kernels("loads_in_flight")),
    Mutant("kernels/include/vectors.cuh", "(16 - size_t(data) % 16) % 16", "size_t(0)", _of_kernels("vector_loads")),
    Mutant("kernels/include/arrivals.cuh", "block += blockDim.x", "block += 2 * blockDim.x", _of_kernels("last_block")),
    Mutant("kernels/include/arrivals.cuh", "(counter, expected - 1)", "(counter, expected)", _of_kernels("last_block")),
    Mutant("kernels/include/block.cuh", "lane < warps", "lane < warps / 2", _of_kernels("work_counter")),
    Mutant("kernels/include/loads.cuh", "place = Operation::template identity<Element>();", "place = Element(0);",
           _of_kernels("staged/staged_shared")),
    Mutant("kernels/include/loads.cuh", "element += all_threads", "element += all_threads + 1",
           _of_kernels("last_warp_shuffled")),
    Mutant("kernels/include/operations.cuh", "& !std::signbit(b)", "& std::signbit(b)", _of_kernels("vector_loads")),
    Mutant("kernels/bandwidth_bound/work_counter.cu", "*counter = 0;", ";", _of_kernels("work_counter")),
    Mutant("kernels/exchanges/rotate.cu", "+ offset", "- offset", _of_kernels("rotate")),
    # The journal
    Mutant(f"{LIBRARY}/measure/identity.py", "sort_keys=True", "sort_keys=False", _JOURNAL + _MEASURE),
    Mutant(f"{LIBRARY}/measure/journal.py", "if unended:", "if False:", _JOURNAL),
    Mutant(f"{LIBRARY}/measure/journal.py", 'if record["journal"] != VERSION', "if False", _JOURNAL),
    Mutant(f"{LIBRARY}/measure/journal.py", "self._records.update(_read_records(other))", "pass",
           ("tests/measure/test_journal.py", "tests/measure/test_chunks.py")),
    Mutant(f"{LIBRARY}/measure/journal.py", "os.write(self._file, unwritten)", "len(unwritten)", _JOURNAL),
    # Statistics
    Mutant(f"{LIBRARY}/statistics.py", "(1 - CONFIDENCE) / 2", "(1 - CONFIDENCE)", _STATISTICS),
    Mutant(f"{LIBRARY}/statistics.py", "return rank - 1, count - rank", "return rank, count - rank", _STATISTICS),
    Mutant(f"{LIBRARY}/statistics.py", "low=min(summary.low, *medians)", "low=summary.low", _STATISTICS),
    Mutant(f"{LIBRARY}/statistics.py", "(samples) / 2", "(samples)", _STATISTICS),
    Mutant(f"{LIBRARY}/intervals.py", "log(under.high / under.value)", "log(under.value / under.low)", _STATISTICS),
    # The schedule of points and samples
    Mutant(f"{LIBRARY}/measure/work.py", '"{task.protocol.seed} {visit}"', '"{task.protocol.seed}"', _MEASURE),
    Mutant(f"{LIBRARY}/measure/identity.py", '{"visit": visit}', "{}", _MEASURE),
    Mutant(f"{LIBRARY}/measure/work.py", "failed.add(point)", "pass", _MEASURE),
    Mutant(f"{LIBRARY}/measure/work.py", "== _MOST_TIMED_OUT", "> _MOST_TIMED_OUT", _MEASURE),
    Mutant(f"{LIBRARY}/measure/work.py", "generator.shuffle(group)", "pass", _MEASURE),
    Mutant(f"{LIBRARY}/measure/chunks.py", "chunk - 1 :: chunks", "chunk :: chunks", ("tests/measure/test_chunks.py",)),
    Mutant(f"{LIBRARY}/measure/racing.py", "min(summary.high, least", "max(summary.high, least",
           ("tests/measure/test_search.py",)),
    Mutant(f"{LIBRARY}/measure/sampling.py", "len(counted) < settings.min_samples", "len(counted) < 2",
           (*_STATISTICS, *_MEASURE)),
]  # fmt: skip


def _copy(tests: Path, folder: Path) -> None:
    """A copy of the checkout in a new folder, which its own tests can copy again, with these tests."""
    ignored = shutil.ignore_patterns(".git", ".snakemake", ".venv", "__pycache__", "results")
    shutil.copytree(ROOT, folder, ignore=ignored)
    shutil.rmtree(folder / "tests")
    shutil.copytree(tests, folder / "tests", ignore=ignored)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)


def _status(folder: Path, tests: tuple[str, ...]) -> int:
    """pytest's exit status for some tests in a copy, which ends with the first that fails."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def main() -> None:
    """Plant the mistakes, and print a table of what the tests say."""
    parser = argparse.ArgumentParser(description="Plant mistakes, and say which of them the tests find.")
    parser.add_argument("--tests", type=Path, default=ROOT / "tests", help="the folder of the tests")
    parser.add_argument("words", nargs="*", help="plant mistakes only in files whose paths have one of these words")
    arguments = parser.parse_args()
    words = arguments.words or [""]
    chosen = [mutant for mutant in MUTANTS if any(word in mutant.file for word in words)]
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        _copy(arguments.tests, copy)
        for tests in dict.fromkeys(mutant.tests for mutant in chosen):
            if _status(copy, tests) != PASSED:
                sys.exit(f"Without a mistake, these tests don't pass: {' '.join(tests)}")
        print("| mistake | found | seconds |\n|---|---|---:|")
        for mutant in chosen:
            file = copy / mutant.file
            right = file.read_text(encoding="utf-8")
            if mutant.old not in right:
                sys.exit(f"{mutant.file} has no {mutant.old!r}")
            file.write_text(right.replace(mutant.old, mutant.new, 1), encoding="utf-8")
            started = time.perf_counter()
            status = _status(copy, mutant.tests)
            file.write_text(right, encoding="utf-8")
            found = {PASSED: "no", FAILED: "yes"}.get(status, f"pytest ended with {status}")
            survivors += found != "yes"
            print(f"| `{mutant.words}` | {found} | {time.perf_counter() - started:.0f} |", flush=True)
    print(f"\n{len(chosen) - survivors} of {len(chosen)} mistakes are found.")
    sys.exit(survivors)


if __name__ == "__main__":
    main()
