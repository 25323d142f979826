"""Mistakes in the use of memory, in words that name the kernel's lines, its variables and the threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuda_emulator.lines import Variable, shared_array
from cuda_emulator.shapes import Shape

if TYPE_CHECKING:
    from cuda_emulator.library import Mistake, Site

_DOES = {"load": "reads it", "store": "writes it", "atomic": "updates it atomically"}
# Causes of mistakes, as in races.hpp.
_IN_FLIGHT, _ACROSS_PROXIES, _FREED = 1, 2, 3

# The number of the kernels' heap among the buffers, as heap_number in spaces.hpp.
HEAP = 2**32 - 1

# A race of two writes of one value.
SAME_VALUE = "same_value"
# A race of a plain read with atomic functions.
UNORDERED_READ = "unordered_read"
# Warps that wait at several barriers at once.
OTHER_BARRIER = "other_barrier"
# Threads that have ended while others of their block wait at a barrier.
PARTIAL_BARRIER = "partial_barrier"
# A bulk copy bound to a barrier that no fence has shown to the asynchronous proxy.
UNFENCED_BARRIER = "unfenced_barrier"


@dataclass(frozen=True)
class Finding:
    """A mistake in a kernel's use of memory.

    kind         race, uninitialised, out_of_bounds, inactive_lane, SAME_VALUE, UNORDERED_READ, OTHER_BARRIER,
                 PARTIAL_BARRIER or UNFENCED_BARRIER
    lines        file:line of the access, and of the other access of a race
    is_doubtful  whether it may be harmless: a race of two writes, or of a plain read with an atomic function, or a read
                 of what has no value
    is_below     whether the access begins before the first byte of a buffer
    """

    kind: str
    lines: tuple[str, ...]
    message: str
    count: int
    array: str = ""
    is_doubtful: bool = False
    is_below: bool = False


@dataclass(frozen=True)
class Buffer:
    """A buffer on the device, its size in bytes, and what its elements are."""

    name: str
    size: int
    shape: Shape
    kind: str = "device buffer"


def in_words(
    mistakes: Sequence[Mistake],
    sites: Sequence[Site],
    line: Callable[[int], str],
    buffer: Callable[[int], Buffer],
    shared: Sequence[Variable],
    shape: Callable[[Variable], tuple[str, Shape | None]],
    dynamic_bytes: int = 0,
    compared: bool = False,
) -> list[Finding]:
    """Each mistake in words, races first; mistakes of one kind in one array between the same lines are one.

    line    gives the file:line of an address of the code
    buffer  gives a buffer by its number
    shared  the kernel's `__shared__` arrays; shape gives one's name and shape, as Lines does; dynamic_bytes is the size
            of dynamic shared memory
    compared  whether the run shows what findings matter: a race of two writes that stored one value is same_value, and
              one of a plain read with atomic functions unordered_read
    """
    races = {site for one in mistakes if one.mistake == "race" for site in (one.site, one.other_site)}
    waits_elsewhere = any(one.mistake == OTHER_BARRIER for one in mistakes)
    found: dict[tuple[str, str, frozenset[str], bool], Finding] = {}
    for one in sorted(mistakes, key=lambda mistake: mistake.mistake != "race"):
        # A race that reads too early often reads a place that is not written yet; the barrier too many is the last one.
        is_after = one.mistake == "uninitialised" and one.site in races
        if is_after or (one.mistake == PARTIAL_BARRIER and waits_elsewhere):
            continue
        if one.mistake in ("inactive_lane", OTHER_BARRIER, PARTIAL_BARRIER):
            warp = _of_warp(one)
            found[one.mistake, "", frozenset(warp.lines), True] = warp
            continue
        site, other = sites[one.site], sites[one.other_site]
        here, there = line(site.address), line(other.address)
        lines = (here, there) if one.mistake in ("race", UNFENCED_BARRIER) else (here,)
        size = min(site.size, other.size)
        if one.space == "global" and one.buffer == HEAP:
            itemsize, array = max(site.size, other.size, 1), "the heap"
            place = f"memory{Shape((0,), itemsize).place(one.offset, itemsize)}"
            kind = "heap, where nothing is allocated"
            if one.allocated_site:
                kind = f"{one.allocated} bytes allocated at {line(sites[one.allocated_site - 1].address)}"
        elif one.space == "global":
            found_in, itemsize = buffer(one.buffer), buffer(one.buffer).shape.itemsize
            array, place = found_in.name, f"{found_in.name}{found_in.shape.place(one.offset, size)}"
            kind = f"{found_in.kind} {found_in.name} of {found_in.shape.elements(found_in.size)}"
        else:
            shared_in = shared_array(shared, one.offset)
            array, itemsize, place, kind = _shared_place(one.offset, shared_in, shape(shared_in), size, dynamic_bytes)
        if one.mistake == "out_of_bounds" and site.size > itemsize and one.cause != _FREED:
            place = f"{site.size} bytes {'from' if site.operation == 'load' else 'at'} {place}"
        note = _note(site, other) if one.mistake == "race" else ""
        is_doubtful = one.mistake == "uninitialised" or bool(note)
        is_note = compared and bool(note) and not (one.differs or site.is_of_range or other.is_of_range)
        message = _message(one, sites, place, kind, here, there)
        if is_note and note == SAME_VALUE:
            message = message.replace(", and nothing orders", ", the same value, and nothing orders")
        kind, is_below = note if is_note else one.mistake, one.space == "global" and one.offset < 0
        mistake = Finding(kind, lines, message, one.count, array, is_doubtful, is_below)
        key = (mistake.kind, array, frozenset(lines), is_doubtful)
        found[key] = replace(found[key], count=found[key].count + one.count) if key in found else mistake
    return list(found.values())


def _of_warp(one: Mistake) -> Finding:
    """A shuffle from an inactive lane, a warp at another barrier than the rest, or a thread that has ended."""
    thread, here = _thread(one, one.thread, one.block), f"{os.fsdecode(one.file)}:{one.line}"
    if one.mistake == "inactive_lane":
        told = (
            f"{thread} reads the value of lane {one.offset} of its warp at {here}, which takes no part in the shuffle"
        )
        return Finding(one.mistake, (here,), told, one.count, "", is_doubtful=True)
    allowed = "CUDA allows a barrier under a condition only if it holds for the whole block. GPUs"
    if one.mistake == PARTIAL_BARRIER:
        told = f"{thread} has ended, and others of its block wait at the barrier at {here}. {allowed} do not wait for "
        return Finding(one.mistake, (here,), f"{told}ended threads", one.count)
    there = f"{os.fsdecode(one.other_name)}:{one.offset}"
    told = f"the warp of {thread} waits at the barrier at {here}, and others at the one at {there}. {allowed} count "
    told += "warps, whichever barrier they wait at"
    return Finding(one.mistake, (here, there), told, one.count)


def _note(site: Site, other: Site) -> str:
    """What a race of these accesses is if it decides nothing; "" where it does in any case."""
    operations = {site.operation, other.operation}
    return SAME_VALUE if operations == {"store"} else UNORDERED_READ if operations == {"load", "atomic"} else ""


def _shared_place(
    offset: int, array: Variable, declared: tuple[str, Shape | None], size: int, dynamic_bytes: int
) -> tuple[str, int, str, str]:
    """The array's name, the bytes of an element, the element at an offset, and a description of the array."""
    name, shape = declared
    shape = shape or Shape((array.size // size,), size)
    place = shape.place(offset - array.offset, size)
    if not array.size:
        place = f"element {place[1:-1]} of {array.name}" if name == array.name else f"{name}{place}"
        return array.name, shape.itemsize, place, f"{array.name} of {dynamic_bytes} bytes"
    kind = f"shared array of {shape.elements()}" if shape.sides else "shared variable"
    return array.name, shape.itemsize, f"{name}{place}", kind


def _message(one: Mistake, sites: Sequence[Site], place: str, kind: str, here: str, there: str) -> str:
    site, other_site = sites[one.site], sites[one.other_site]
    thread = _thread(one, one.thread, one.block)
    if one.mistake == "race":
        other = _other_thread(one)
        order = f"and nothing orders the two{_remedy(one, site, other_site)}"
        if one.cause == _IN_FLIGHT:
            order = "before the wait for the asynchronous copy"
        elif one.cause == _ACROSS_PROXIES:
            fence = "fence.proxy.async" if one.space == "global" else "fence_proxy_async_shared_cta()"
            order = f"and no {fence} comes between the write and the bulk copy"
        does, did = _does(site), _does(other_site)
        return f"race at {place} ({kind}): {thread} {does} at {here}, {other} {did} at {there}, {order}"
    if one.mistake == UNFENCED_BARRIER:
        told = f"{thread} starts a bulk copy at {here} for a barrier that {_other_thread(one)} initialises at {there}"
        return (
            f"{told}, and no fence_proxy_async_shared_cta() comes between. CUDA's programming guide has one there; an "
            "example of libcu++ has none"
        )
    if one.mistake == "uninitialised":
        return f"{thread} reads {place} ({kind}) at {here}, which nothing has written"
    does = _does(site).replace(" it", f" {place}")
    if one.cause == _FREED:
        return f"{thread} {does} ({kind}) at {here}, which {_other_thread(one)} has freed at {there}"
    return f"{thread} {does} at {here}, out of bounds of the {kind}"


def _does(site: Site) -> str:
    if not site.size:
        return "frees it"
    return _DOES[site.operation] + (" for its block" if site.is_of_block else "")


def _remedy(one: Mistake, site: Site, other: Site) -> str:
    """What would order the accesses of a race, where that is not plain."""
    if one.launches_before:
        if one.has_waited:
            return ": no launch between them waits for the earlier one"
        return ": cudaGridDependencySynchronize() does so, before the later one"
    if site.operation == other.operation == "atomic":
        return ": what is atomic for a block is so in that block alone"
    if one.fenced:
        return ": fences do so only with atomic functions on one address"
    if {site.operation, other.operation} != {"load", "atomic"}:
        return ""
    if one.block != one.other_block:
        return ": fences do so, with atomic functions on one address"
    return ": a barrier does so, or an atomic function in place of the read"


def _thread(one: Mistake, thread: int, block: int) -> str:
    """A thread of the mistake's launch; its place in x, y and z where the launch has several dimensions."""
    return f"thread {_place(thread, one.block_size)} of block {_place(block, one.grid)}"


def _other_thread(one: Mistake) -> str:
    """The thread of the other access of a race, with its launch where that is an earlier one."""
    block, thread = _place(one.other_block, one.other_grid), _place(one.other_thread, one.other_block_size)
    if not one.launches_before:
        return f"thread {thread} of block {block}"
    launch = "the launch" if one.launches_before == 1 else f"{one.launches_before} launches"
    return f"thread {thread} of block {block} of {os.fsdecode(one.other_name)}, {launch} before,"


def _place(number: int, size: Sequence[int]) -> str:
    if tuple(size[1:]) == (1, 1):
        return str(number)
    return str((number % size[0], number // size[0] % size[1], number // (size[0] * size[1])))
