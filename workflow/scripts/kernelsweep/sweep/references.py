"""References of points that are to be checked, computed by other processes while the GPU measures what is ready."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from typing import Any, TypeVar

from kernelsweep.base.locks import lock_first, open_or_make
from kernelsweep.base.logs import in_minutes
from kernelsweep.base.running import THREAD_VARIABLES, end_with_parent, environment, in_child
from kernelsweep.base.sandbox import memory_bytes
from kernelsweep.device.point.instances import Instances, has_second_input, input_bytes
from kernelsweep.device.request import MOST_HOST_SECONDS
from kernelsweep.device.task import KernelTask
from kernelsweep.errors import StudyError, UserError
from kernelsweep.study.point import Point
from kernelsweep.study.problem.problem_file import Data, Problem, problem_of

# A point, and whether the second input's reference is wanted.
_Wanted = tuple[Point, bool]

# While a GPU waits, a line after so many seconds, and again after the others.
_NOTICE_SECONDS, _NEXT_NOTICE_SECONDS = 2.0, 5.0

# The job itself computes references for so many seconds, in which the other process starts.
_MOST_SECONDS_HERE = 1.0

# A reference and its bounds take this many times the memory of the point's arrays: Black-Scholes in NumPy, with a
# function that is vectorised in Python, took 7 times, and matrix multiplication 3 times.
_TIMES_THE_ARRAYS = 10


_Group = TypeVar("_Group")


class References:
    """The references of points, computed on all cores by another process. A context manager that ends it.

    The smallest comes first, so that a GPU has work soon, then the others from the largest on. As many are computed at
    once as fit into half of the machine's memory: other jobs need some, too. Jobs of one problem file take turns, so
    that each reference is computed once. They stay in the store of the problem (study/problem/file_instance.py), where
    the processes that check points find them.
    """

    def __init__(
        self,
        task: KernelTask,
        points: Sequence[Point],
        notify: Callable[[str], None],
        processes: int = 1,
        small_here: bool = False,
    ) -> None:
        """Start to compute.

        points      that are to be checked, on a platform with a clock
        notify      gets a line for the user where something waits
        processes   compute references at once
        small_here  whether this process has the small ones first, while the other starts

        Raises StudyError where a function of the problem is wrong.
        """
        self._problem = problem_of(task.problem)
        self._notify = notify
        self._processes = processes
        wanted = _wanted(self._problem, points)
        self._left = {self._problem.data_of(point): 2 for point, _ in wanted}
        self._total = len(wanted)
        self._changed = threading.Condition()
        self._error: Exception | None = None
        self._process: subprocess.Popen[bytes] | None = None
        if wanted:
            command = [sys.executable, "-m", __name__]
            # The cores that no other reference uses are for those of linear algebra.
            threads = dict.fromkeys(THREAD_VARIABLES, str(max(1, processes // len(wanted))))
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment() | threads
            )
            if small_here and _have_small_ones(task, points):
                self._process.kill()
                self._left = {}
                return
            arguments = (task, wanted, processes)
            threading.Thread(target=self._read, args=(self._process, arguments), daemon=True).start()

    def in_order(self, groups: Mapping[Data, _Group], before_waiting: Callable[[], None]) -> Iterator[_Group]:
        """Groups by their data, in this order as far as references are there.

        before_waiting  called each time before nothing else can be done

        Raises UserError as wait() does.
        """
        left = list(groups)
        self.wait(left, MOST_HOST_SECONDS)
        while left:
            place = self.first_ready(left)
            if place is None:
                before_waiting()
                self.wait(left)
            else:
                yield groups[left.pop(place)]

    def first_ready(self, data: Sequence[Data]) -> int | None:
        """The place of the first whose references are all there, or None. Raises UserError as wait() does."""
        with self._changed:
            if self._error:
                raise self._error
            return next((place for place, one in enumerate(data) if not self._left.get(one)), None)

    def wait(self, data: Sequence[Data], most: float = inf) -> bool:
        """Wait until the references of one of these are there, or for so many seconds. Returns whether they are.

        Raises UserError where a function of the problem is wrong.
        """
        pause, started = _NOTICE_SECONDS, time.monotonic()
        with self._changed:
            before = sum(self._left.values())
            while not self._changed.wait_for(lambda: self.first_ready(data) is not None, min(pause, most)):
                if time.monotonic() - started >= most:
                    return False
                missing = sum(self._left.values())
                done = before - missing
                left = f", {in_minutes((time.monotonic() - started) / done * missing)} left" if done else ""
                told = f"{self._total - missing} of {self._total} done on {self._processes} cores{left}"
                self._notify(f"waiting for references of {self._problem.name}: {told}")
                pause = _NEXT_NOTICE_SECONDS
        return True

    def __enter__(self) -> References:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()

    def _read(self, other: subprocess.Popen[bytes], arguments: Any) -> None:
        """Take the other process's answers, in a thread, until it ends."""
        assert other.stdin is not None and other.stdout is not None
        try:
            with other.stdin:
                pickle.dump(arguments, other.stdin)
            while True:
                answer = pickle.load(other.stdout)
                with self._changed:
                    if isinstance(answer, UserError):
                        self._error = StudyError(str(answer))
                    elif isinstance(answer, str):
                        self._notify(answer)
                    else:
                        self._left[answer] -= 1
                    self._changed.notify_all()
        except (EOFError, BrokenPipeError):
            status = other.wait()
        with self._changed:
            if status and not self._error:
                self._error = RuntimeError(f"the process that computes references ended with exit status {status}")
            self._changed.notify_all()


def _have_small_ones(task: KernelTask, points: Iterable[Point]) -> bool:
    """Have the references of points on disk whose inputs are small. Returns whether those of all points are there.

    Where one has large inputs, or they take long all together, none after it is computed. Raises StudyError where a
    function of the problem is wrong.
    """
    problem, instances, started = problem_of(task.problem), Instances(task), time.monotonic()
    try:
        for point in _by_size(problem, points):
            if time.monotonic() - started > _MOST_SECONDS_HERE:
                return False
            first = instances.at(point)
            size = input_bytes(first)
            if not has_second_input(size):
                return False
            first.expect()
            if task.protocol.second_input:
                instances.at(point, True).expect()
    except UserError as error:
        raise StudyError(str(error)) from error
    return True


def _wanted(problem: Problem, points: Iterable[Point]) -> list[_Wanted]:
    """What is to be computed, in order: the smallest, which has a result soon, then from the largest on."""
    by_size = _by_size(problem, points)
    return [(point, is_second) for point in [*by_size[:1], *by_size[:0:-1]] for is_second in (False, True)]


def _by_size(problem: Problem, points: Iterable[Point]) -> list[Point]:
    """A point of each data, the smallest first."""
    return sorted({problem.data_of(point): point for point in points}.values(), key=problem.size)


class _MemoryBudget:
    """Half of the machine's memory, which processes take parts of and give back."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self._all = memory_bytes() // 2
        self._free = context.Value("q", self._all, lock=False)
        self._changed = context.Condition()

    @contextmanager
    def taken(self, size: int) -> Iterator[None]:
        """Wait until so many bytes are free, and keep them. More than there is counts as all."""
        size = min(size, self._all)
        with self._changed:
            self._changed.wait_for(lambda: self._free.value >= size)
            self._free.value -= size
        try:
            yield
        finally:
            with self._changed:
                self._free.value += size
                self._changed.notify_all()


def _computed(task: KernelTask, wanted: Sequence[_Wanted], processes: int) -> Iterator[Data]:
    """Compute references in forks of this process; gives the data of each when it is there."""
    context, problem = multiprocessing.get_context("fork"), problem_of(task.problem)
    at_once = min(processes, len(wanted))
    with ProcessPoolExecutor(at_once, context, _begin, (task, _MemoryBudget())) as pool:
        jobs = {pool.submit(_compute, one): problem.data_of(one[0]) for one in wanted}
        for job in as_completed(jobs):
            job.result()
            yield jobs[job]


def _begin(*job: Any) -> None:
    """Keep what all references of a process have in common. The process ends with the other one, and with its lock."""
    end_with_parent()
    _compute.job = job  # type: ignore[attr-defined]


def _compute(wanted: _Wanted) -> None:
    """Compute a reference in a process of its own, and leave it in the problem's store.

    Where there is no memory for it, the point is tried without, and says so in its row.
    """
    task, memory = _compute.job  # type: ignore[attr-defined]
    with suppress(MemoryError):
        in_child(partial(_leave, task, wanted, memory), problem_of(task.problem).name)


def _leave(task: KernelTask, wanted: _Wanted, memory: _MemoryBudget) -> None:
    point, is_second = wanted
    instance = Instances(task).at(point, is_second)
    if is_second and not has_second_input(input_bytes(instance)):
        return
    size = sum(array.size * array.dtype.itemsize for array in instance.arrays().values())
    with memory.taken(_TIMES_THE_ARRAYS * size):
        instance.expect()


def _main() -> None:
    """Serve References: its arguments come in; data, sentences for the user and at last a UserError go out."""
    end_with_parent()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # A problem's functions may print.

    def answer(value: Data | str | UserError) -> None:
        pickle.dump(value, answers)
        answers.flush()

    task, *others = pickle.load(sys.stdin.buffer)
    problem = problem_of(task.problem)
    lock = problem.references.with_suffix(".lock")
    lock.parent.mkdir(parents=True, exist_ok=True)

    def waiting() -> None:
        answer(f"waiting for references of {problem.name}, which another process computes")

    _, held = lock_first([lock], open_or_make, waiting)
    try:
        for data in _computed(task, *others):
            answer(data)
    except UserError as wrong:
        answer(wrong)
    finally:
        os.close(held)


if __name__ == "__main__":
    _main()
