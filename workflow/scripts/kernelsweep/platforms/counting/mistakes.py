"""Mistakes in the use of memory, in words that name the kernel's lines, its variables and the threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kernelsweep.platforms.counting.lines import Variable, shared_array
from kernelsweep.platforms.emulated_library import Mistake, Site
from kernelsweep.platforms.platform import MemoryMistake
from kernelsweep.results import SAME_VALUE

_DOES = {"load": "reads it", "store": "writes it", "atomic": "updates it atomically"}


@dataclass(frozen=True)
class Buffer:
    """A buffer on the device; size and itemsize, that of an element, are in bytes."""

    name: str
    size: int
    itemsize: int


def in_words(
    mistakes: Sequence[Mistake],
    sites: Sequence[Site],
    line: Callable[[int], str],
    buffer: Callable[[int], Buffer],
    shared: Sequence[Variable],
    compared: bool = False,
) -> list[MemoryMistake]:
    """Each mistake in words, races first; mistakes of one kind in one array between the same lines are one.

    line    gives the file:line of an address of the code
    buffer  gives a buffer by its number
    shared  the kernel's `__shared__` arrays
    compared  whether the values of writes were: a race of two that stored one value is same_value
    """
    races = {site for one in mistakes if one.mistake == "race" for site in (one.site, one.other_site)}
    found: dict[tuple[str, str, frozenset[str], bool], MemoryMistake] = {}
    for one in sorted(mistakes, key=lambda mistake: mistake.mistake != "race"):
        # A race that reads too early often reads a place that is not written yet.
        if one.mistake == "uninitialised" and one.site in races:
            continue
        if one.mistake == "inactive_lane":
            reads = f"{_thread(one, one.thread, one.block)} reads the value of lane {one.offset} of its warp"
            here = f"{os.fsdecode(one.file)}:{one.line}"
            told = f"{reads} at {here}, which takes no part in the shuffle"
            found[one.mistake, "", frozenset([here]), True] = MemoryMistake(
                one.mistake, (here,), told, one.count, "", is_doubtful=True
            )
            continue
        here, there = line(sites[one.site].address), line(sites[one.other_site].address)
        lines = (here, there) if one.mistake == "race" else (here,)
        if one.space == "global":
            found_in = buffer(one.buffer)
            array, place = found_in.name, f"{found_in.name}[{one.offset // found_in.itemsize}]"
            kind = f"device buffer {found_in.name} of {found_in.size // found_in.itemsize} elements"
        else:
            array, place, kind = _shared_place(one.offset, shared, sites[one.site].size)
        are_writes = sites[one.site].operation == sites[one.other_site].operation == "store"
        is_doubtful = one.mistake == "uninitialised" or (one.mistake == "race" and are_writes)
        is_same = compared and one.mistake == "race" and are_writes and not one.differs
        message = _message(one, sites, place, kind, here, there)
        mistake = MemoryMistake(
            SAME_VALUE if is_same else one.mistake,
            lines,
            message.replace(", and nothing orders", ", the same value, and nothing orders") if is_same else message,
            one.count,
            array,
            is_doubtful,
        )
        key = (mistake.kind, array, frozenset(lines), is_doubtful)
        found[key] = replace(found[key], count=found[key].count + one.count) if key in found else mistake
    return list(found.values())


def _shared_place(offset: int, shared: Sequence[Variable], size: int) -> tuple[str, str, str]:
    """The name of the array at an offset in shared memory, its element there, and a description of the array."""
    array = shared_array(shared, offset)
    index = (offset - array.offset) // size
    if not array.size:
        return array.name, f"element {index} of {array.name}", array.name
    return array.name, f"{array.name}[{index}]", f"shared array of {array.size // size} elements"


def _message(one: Mistake, sites: Sequence[Site], place: str, kind: str, here: str, there: str) -> str:
    does = _DOES[sites[one.site].operation]
    thread = _thread(one, one.thread, one.block)
    if one.mistake == "race":
        other = _thread(one, one.other_thread, one.other_block)
        did = _DOES[sites[one.other_site].operation]
        why = ": fences do so only with atomic functions on one address" if one.fenced else ""
        order = "before the wait for the asynchronous copy" if one.in_flight else f"and nothing orders the two{why}"
        return f"race at {place} ({kind}): {thread} {does} at {here}, {other} {did} at {there}, {order}"
    if one.mistake == "uninitialised":
        return f"{thread} reads {place} ({kind}) at {here}, which nothing has written"
    return f"{thread} {does.replace(' it', f' {place}')} at {here}, out of bounds of the {kind}"


def _thread(one: Mistake, thread: int, block: int) -> str:
    """A thread of the mistake's launch; its place in x, y and z where the launch has several dimensions."""
    return f"thread {_place(thread, one.block_size)} of block {_place(block, one.grid)}"


def _place(number: int, size: Sequence[int]) -> str:
    if tuple(size[1:]) == (1, 1):
        return str(number)
    return str((number % size[0], number // size[0] % size[1], number // (size[0] * size[1])))
