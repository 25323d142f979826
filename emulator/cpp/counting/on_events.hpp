// What follows from the emulator's events (events.hpp) for requests, the order of accesses, and mistakes.
#pragma once

#include "events.hpp"
#include "races.hpp"

namespace emulator::counting {

constexpr uint64_t most_blocks = 0x7fffffff; // of a launch: blocks are counted in 32 bits

struct State {
    Worker *worker; // that runs a block; null while none does
    bool check_races;
};

inline State state;

EMULATOR_UNCOUNTED bool prepare_launch(const char *kernel, const size_t *grid_size, const size_t *block_size,
                                       size_t shared_bytes, bool in_turns, bool is_programmatic)
{
    const uint64_t grid = uint64_t(grid_size[0]) * grid_size[1] * grid_size[2];
    if (grid > most_blocks)
        return false;
    find_shared_memory(shared_bytes);
    if (spaces.own_shadow.cells == nullptr)
        spaces.own_shadow = make_shadow(spaces.shared_size);
    spaces.shared_shadow = &spaces.own_shadow;
    for (unsigned i = 0; i < spaces.buffer_count; ++i)
        spaces.buffers[i].shadow.is_plain &= spaces.buffers[i].shadow.most != 0; // A kernel initialises, and no more.
    forget_flags();
    if (!make_room_for_releases(grid * block_size[0] * block_size[1] * block_size[2]))
        return false;
    ordering.in_turns = in_turns;
    ordering.are_mixed = schedule.number != 0;
    ordering.turns_began = UINT32_MAX;
    ordering.moment = 1;
    ordering.grid_ordered = 0;
    ordering.first_run = ordering.next_run + 1; // None is 0.
    ordering.next_run += uint32_t(grid);
    const uint32_t of_grid[] = {uint32_t(grid_size[0]), uint32_t(grid_size[1]), uint32_t(grid_size[2])};
    const uint32_t of_block[] = {uint32_t(block_size[0]), uint32_t(block_size[1]), uint32_t(block_size[2])};
    record_launch(is_programmatic, of_grid, of_block, kernel);
    return spaces.own_shadow.cells != nullptr;
}

EMULATOR_UNCOUNTED inline void start_warp(unsigned warp, Lanes existing_lanes)
{
    requests.warp = warp;
    requests.existing_lanes = existing_lanes;
    requests.paused = 0;
    start_interval(all_lanes);
}

EMULATOR_UNCOUNTED inline void fill_shared_memory()
{
    for (unsigned i = 0; i <= spaces.variable_count; ++i) {
        const Variable &variable = spaces.variables[i];
        memset(reinterpret_cast<void *>(spaces.shared + variable.offset), doubts.filling, variable.size);
    }
}

EMULATOR_UNCOUNTED void forget_copies(unsigned threads); // in copies.hpp
EMULATOR_UNCOUNTED void check_copies_left();

EMULATOR_UNCOUNTED void start_block(Worker &worker, unsigned block, unsigned threads, Lanes existing_lanes)
{
    if (doubts.are_settled)
        fill_shared_memory(); // which no access is seen of yet
    state.worker = &worker;
    requests.block = block;
    forget_requests();
    pending_checks.count = 0;
    start_ordering(threads);
    forget_waits(false);
    forget_copies(threads);
    start_warp(0, existing_lanes);
}

EMULATOR_UNCOUNTED void go_on_with_block(Worker &worker, unsigned block, unsigned warp, Lanes existing_lanes)
{
    state.worker = &worker;
    requests.block = block;
    start_ordering(ordering.threads);
    forget_waits(launch_before(0).waits); // before the barrier of the blocks
    ordering.warps_run -= (ordering.threads + lanes_of_a_warp - 1) / lanes_of_a_warp; // They are counted already.
    forget_copies(ordering.threads);
    start_warp(warp, existing_lanes);
}

EMULATOR_UNCOUNTED void start_turns(Resident *cluster, unsigned blocks)
{
    ordering.turns_began = ordering.grid_ordered = advance();
    spaces.cluster = cluster;
    spaces.cluster_blocks = blocks;
}

EMULATOR_UNCOUNTED const void *shared_of(unsigned rank, const void *address, const emulator::Site &site)
{
    Resident &there = spaces.cluster[rank];
    there.mapped = site.file;
    there.mapped_line = site.line;
    return there.shared + (uintptr_t(address) - spaces.shared);
}

EMULATOR_UNCOUNTED void pass_grid_barrier() { ordering.grid_ordered = advance(); }

EMULATOR_UNCOUNTED void end_block()
{
    check_pending();
    check_copies_left();
    settle_doubts();
    close_requests();
    note_triggers();
    state.worker = nullptr;
}

EMULATOR_UNCOUNTED void leave_warp(unsigned next, Lanes existing_lanes)
{
    check_pending();
    close_requests();
    start_warp(next, existing_lanes);
}

EMULATOR_UNCOUNTED void pass_barrier(unsigned warps)
{
    check_pending();
    close_requests();
    start_interval(all_lanes);
    ordering.barriers += warps;
    order_block();
    launches.all_have_waited |= launches.waiter_count != 0;
}

EMULATOR_UNCOUNTED void meet_in_warp(unsigned warp, Lanes lanes, Lanes alive, bool orders_memory)
{
    check_pending();
    if ((lanes & alive) == alive)
        close_requests();
    start_interval(lanes);
    ++(orders_memory ? ordering.warp_synchronisations : ordering.warp_exchanges);
    if (!orders_memory)
        return;
    for (Lanes rest = ordering.has_touched ? lanes : 0; rest != 0; rest &= rest - 1)
        learn(warp * lanes_of_a_warp + first_of(rest), true);
    order_lanes(warp, lanes, requests.existing_lanes);
}

EMULATOR_UNCOUNTED uint64_t read_inactive_lane(unsigned thread, unsigned lane, const emulator::Site &site, uint64_t own)
{
    const Access reader = {requests.run, ordering.moment, thread, 0, 0};
    Finding *const found = find_finding(inactive_lane, {}, reader, reader, site.file, uint32_t(site.line));
    if (found != nullptr && found->count++ == 0)
        found->offset = lane;
    return doubts.are_settled ? 0x0101010101010101u * doubts.filling : own;
}

EMULATOR_UNCOUNTED void note_other_barrier(unsigned thread, const emulator::Site &here, const emulator::Site &there)
{
    const Access waiter = {requests.run, ordering.moment, thread, 0, 0};
    Finding *const found = find_finding(other_barrier, {}, waiter, waiter, here.file, uint32_t(here.line));
    if (found == nullptr)
        return;
    ++found->count;
    found->other_name = there.file;
    found->offset = there.line;
}

EMULATOR_UNCOUNTED void note_partial_barrier(unsigned thread, const emulator::Site &site)
{
    const Access ended = {requests.run, ordering.moment, thread, 0, 0};
    if (Finding *const found = find_finding(partial_barrier, {}, ended, ended, site.file, uint32_t(site.line)))
        ++found->count;
}

EMULATOR_UNCOUNTED Lanes resume_paused_lanes()
{
    const Lanes lanes = requests.paused;
    if (lanes != 0)
        end_round();
    requests.paused = 0;
    return lanes;
}

} // namespace emulator::counting
