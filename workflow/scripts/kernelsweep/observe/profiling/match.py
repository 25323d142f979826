"""Match captured launches to the points that launched them: by order, with a check of every launch."""

from __future__ import annotations

from collections.abc import Sequence

from kernelsweep.errors import UserError
from kernelsweep.observe.profiling.capture import Capture, CapturedLaunch, plain_name
from kernelsweep.observe.requests import Answer


def match_launches(capture: Capture, answers: Sequence[Answer], kernel: str) -> list[tuple[CapturedLaunch, ...]]:
    """The captured launches of each point, in order.

    answers  the worker's, for each point that ran

    Raises UserError if the capture has another number of launches than the worker made, or a launch of another
    function, grid or block: its metrics would be another point's.
    """
    expected = sum(len(answer.launches) for answer in answers)
    if len(capture.launches) != expected:
        raise UserError(
            f"{kernel}: {expected} launches were to be profiled, but Nsight Compute captured {len(capture.launches)}, "
            "so that none can be told to be any point's."
        )
    captured = iter(capture.launches)
    matched = []
    for answer in answers:
        launches = tuple(next(captured) for _ in answer.launches)
        for number, (made, found) in enumerate(zip(answer.launches, launches, strict=True), start=1):
            wanted = (plain_name(made.variant), made.grid, made.block)
            if wanted != (found.function, found.grid, found.block):
                raise UserError(
                    f"{kernel}: launch {number} of {len(launches)} of a point should be {_text(*wanted)}, but Nsight "
                    f"Compute captured {_text(found.function, found.grid, found.block)} in its place."
                )
        matched.append(launches)
    return matched


def _text(function: str, grid: tuple[int, ...], block: tuple[int, ...]) -> str:
    return f"{function} with grid {grid} and blocks of {block}"
