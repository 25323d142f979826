"""Small right kernels in which no order of threads shows anything, and wrong ones in each of which its mistake is."""

from __future__ import annotations

import re

import pytest
from checkout import ROOT
from memory_cases import Case, cases, found_in_all, table
from planted_mistakes import PLANTED

Found = dict[Case, list[tuple[str, str, str]]]


@pytest.fixture(scope="module")
def found() -> Found:
    return found_in_all(seeds=6, seeds_of_wrong=1)


@pytest.mark.xdist_group("memory_cases")
@pytest.mark.parametrize("topic", sorted({case.topic for case in cases()}))
def test_nothing_wrong_passes_and_nothing_right_is_accused(found: Found, topic: str) -> None:
    for case in (case for case in found if case.topic == topic):
        told = {(check, finding): message for check, finding, message in found[case]}
        if case.kind != "wrong":
            assert [*told] == ([(case.check, case.finding)] if case.kind == "note" else []), (case, told)
            continue
        assert (case.check, case.finding) in told, (case, told)
        named = [int(line) for line in re.findall(rf"{topic}\.cu:(\d+)", told[case.check, case.finding])]
        assert case.calls_others or all(case.line < line < case.last_line for line in named), (case, told)
        assert case.calls_others or named or case.finding == "launch_failed", (case, told)


@pytest.mark.xdist_group("memory_cases")
@pytest.mark.parametrize(("name", "message"), [
    ("missing_barrier", r"race at tile\[\d+\] \(shared array of 64 elements\): thread \d+ of block 0 "),
    ("blocks_collide", r"race at y\[\d+\] \(device buffer y of 256 elements\).* of block 1 .* of block 0"),
    ("atomic_and_plain", r"updates it atomically at .*, and nothing orders the two"),
    ("partly_written", r"thread 63 of block 0 reads tile\[63\] .* nothing has written"),
    ("shared_pointer", r"out of bounds of the shared array of 64 elements"),
    ("dynamic_past_end", r"element 128 of dynamic shared memory"),
    ("read_before_start", r"thread 0 of block 0 reads x\[-1\] .* out of bounds"),
    ("variable_of_program", r"race at by_thread\[\d+\] \(variable by_thread of 128 elements\): thread"),
    ("member_not_set", r"reads rows\[7\]\[\d\]\.mark \(shared array of 8 x 8 elements\)"),
    ("words_over_end", r"thread 62 of block 0 reads 8 bytes from x\[62\] at .* buffer x of 63 elements"),
    ("dynamic_past_end", r"out of bounds of the dynamic shared memory of 512 bytes"),
    ("scope_of_a_block", r"updates it atomically for its block .*: what is atomic for a block is so in that block"),
    ("begun_by_plain_read", r"; the results are the same whatever it is"),
    ("far_before", r"far from every array of the kernel, at \S+faults.cu:\d+"),
    ("barrier_of_more", r"for phase 0 of a barrier, which lacks 1 of 65 arrivals: "),
    ("bulk_without_fence", r"no fence_proxy_async_shared_cta\(\) comes between the write and the bulk copy"),
    ("middle_never_waits", r"_1, 2 launches before, .* no launch between them waits for the earlier one"),
    ("in_a_guard", r"thread 40 of block 0 has ended, and others of its block wait .* at \S+barriers.cu:18\."),
    ("beyond_bounds", r"a block of 64 threads, where the kernel's __launch_bounds__ allows 32"),
])  # fmt: skip
def test_a_message_says_which_element_threads_and_lines(found: Found, name: str, message: str) -> None:
    (told,) = (messages for case, messages in found.items() if case.name == name)
    assert re.search(message, told[-1][2]), told


@pytest.mark.xdist_group("memory_cases")
def test_a_race_beside_fences_says_what_they_order(found: Found) -> None:
    told = {case.name: messages[0][2] for case, messages in found.items() if case.topic == "fences" and messages}
    for name, has_fences in (("volatile_flag", True), ("two_locks", True), ("lock_without_fence", False)):
        assert ("fences do so only with atomic functions on one address" in told[name]) == has_fences, told[name]


def test_each_mistake_of_published_kernels_is_in_a_kernel_of_our_own() -> None:
    told = (ROOT / "docs/found.md").read_text()
    assert {*re.findall(r"Repeat:\s+`(\w+)`", told)} == {case.name for case in cases() if case.topic == "found"}
    alike = {*re.findall(r"Alike:\s+`(\w+)`", told)}
    assert alike and alike <= {*PLANTED} | {case.name for case in cases()}


@pytest.mark.xdist_group("memory_cases")
def test_the_documents_table_is_what_is_found(found: Found) -> None:
    assert table(found) in (ROOT / "docs/measured/planted-mistakes.md").read_text()
