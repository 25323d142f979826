"""Random programs of accesses to one word: a race is found exactly where vector clocks say that there is one."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
from emulator_units import INCLUDE, runtime, write_unit

from cuda_emulator.compiling import compile_for_emulator
from kernelsweep.device.emulator import EmulatorPlatform
from kernelsweep.study.kernels.plan import Launch

BLOCKS, THREADS, PROGRAMS = 2, 64, 250
# The size, whether it writes, and the scope in which it is atomic, by the number in the kernel.
KINDS = {1: (1, 0, ""), 2: (1, 1, ""), 3: (2, 0, ""), 4: (2, 1, ""), 5: (4, 0, ""), 6: (4, 1, "")}
KINDS |= {7: (4, 1, "device"), 8: (4, 1, "block")}
MIXTURES = ([1, 2], [5, 6, 7], [5, 7, 8], [1, 1, 2], [5, 5, 5, 6, 7], [*KINDS])


def races(program: np.ndarray, orders: list[int], is_shared: bool) -> bool:
    """Whether two accesses of a program race, by a clock of each thread for each other."""
    accesses = []
    for block in range(BLOCKS):
        clocks = np.eye(THREADS, dtype=int)
        for step, order in enumerate(orders):
            for thread in np.flatnonzero(program[block, :, step]):
                kind, first = divmod(int(program[block, thread, step]), 4)
                accesses.append((block, thread, clocks[thread].copy(), first, *KINDS[kind]))
            group = {0: 1, 1: 32, 2: THREADS}[order]
            known = clocks.reshape(-1, group, THREADS).max(axis=1)
            clocks = np.repeat(known, group, axis=0) + np.eye(THREADS, dtype=int)
    for one, other in combinations(accesses, 2):
        block, thread, clock, first, size, writes, scope = one
        block_2, thread_2, clock_2, first_2, size_2, writes_2, scope_2 = other
        overlap = first < first_2 + size_2 and first_2 < first + size
        is_atomic = scope and scope_2 and (block == block_2 or scope == scope_2 == "device")
        is_ordered = block == block_2 and (thread == thread_2 or clock[thread] <= clock_2[thread])
        if overlap and (writes or writes_2) and not (is_atomic or is_ordered or (is_shared and block != block_2)):
            return True
    return False


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_race_is_found_exactly_where_one_is(tmp_path: Path, is_shared: bool) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(f'#define IS_SHARED {int(is_shared)}\n#include "tests/planted/random_accesses.cu"\n')
    unit = write_unit(tmp_path / "unit.cpp", [kernel], ["random_accesses"])
    compile_for_emulator(unit, tmp_path / "unit.so", runtime(), [*INCLUDE, ROOT])
    platform, draw, outcomes = EmulatorPlatform(), random.Random(3), set()
    platform.load(tmp_path / "unit.so", {"kernel": {"unit": 0, "entry": 0}})
    for _ in range(PROGRAMS):
        orders = [draw.choice((0, 1, 2, 2)) for _ in range(draw.choice((3, 5, 8)))]
        program = np.zeros((BLOCKS, THREADS, len(orders)), np.int32)
        mixture, density = draw.choice(MIXTURES), draw.choice((0.2, 0.5))
        for block in range(draw.choice((1, BLOCKS))):
            for thread in draw.sample((0, 1, 2, 33, 34, 63), 3):
                for step in range(len(orders)):
                    kind = draw.choice(mixture)
                    if draw.random() < density:
                        program[block, thread, step] = 4 * kind + draw.randrange(0, 4, KINDS[kind][0])
        platform.watch()
        arrays = (program, np.array(orders, np.int32), np.zeros(4, np.uint8), np.zeros(257, np.int32))
        memory = [platform.allocate(array.nbytes) for array in arrays]
        for place, array in zip(memory, arrays, strict=True):
            platform.upload(place, array.ravel())
        grid, block_size = (BLOCKS, 1, 1), (THREADS, 1, 1)
        arguments = [*memory[:2], np.int32(len(orders)), *memory[2:]]
        platform.launch(Launch(grid, block_size, (), "kernel"), arguments)
        names = zip(memory, ("program", "orders", "z", "other"), strict=True)
        found = platform.mistakes((place, name, np.dtype(np.uint8)) for place, name in names)
        expected = races(program, orders, is_shared)
        assert any(mistake.kind == "race" for mistake in found) == expected, (program.nonzero(), program.max(), orders)
        outcomes.add(expected)
        for place in memory:
            platform.free(place)
    assert outcomes == {True, False}
