// Mistakes in the use of memory, from what is remembered of each of its words: two accesses that nothing orders, at least
// one of them a write; a read of what nothing has written; an access past a buffer's end.
//
// Of a word are remembered the last write, and two reads that nothing orders, preferably of different warps or blocks:
// whoever writes next races with one of them if with any. (Only where a __syncwarp of part of a warp has ordered two of
// several readers, a third one of that warp may be missed.) So memory grows with the buffers, not with the accesses.
#pragma once

#include "ordering.hpp"

namespace emulator::counting {

constexpr unsigned most_findings = 256;

struct Access {
    uint32_t block;
    uint32_t moment; // 0: there was no such access
    uint16_t thread;
    uint16_t site;
    unsigned char bytes; // of the word, a bit for each
    bool is_atomic;
};

struct Cell {
    uint32_t valid_in; // what the accesses are of: a launch, or for shared memory a block's run
    unsigned char initialised; // a bit for each byte
    Access write;
    Access reads[2];
};

EMULATOR_UNCOUNTED inline Cell *make_cells(size_t size)
{
    return static_cast<Cell *>(calloc((size + word - 1) / word, sizeof(Cell))); // pages come as they are touched
}

enum Mistake : uint32_t { race, uninitialised, out_of_bounds };

// A kind of mistake between two places in the code, its first instance, and how often it happened.
struct Finding {
    uint32_t mistake;
    uint32_t space;
    uint32_t buffer;
    uint32_t block;
    uint32_t thread;
    uint32_t other_block;
    uint32_t other_thread;
    uint32_t site;
    uint32_t other_site;
    uint32_t padding;
    int64_t offset;
    uint64_t count;
};

struct Findings {
    Finding findings[most_findings];
    unsigned count;
    uint64_t others; // of further kinds
};

inline Findings findings;

__attribute__((noinline, cold)) EMULATOR_UNCOUNTED inline void report(Mistake mistake, const Place &place, unsigned site,
                                                                      unsigned thread, const Access &other)
{
    const uint32_t buffer = place.space == global_memory ? spaces.buffers[place.buffer].number : 0;
    for (unsigned i = 0; i < findings.count; ++i) {
        Finding &found = findings.findings[i];
        if (found.mistake == mistake && found.site == site && found.other_site == other.site &&
            found.buffer == buffer) {
            ++found.count;
            return;
        }
    }
    if (findings.count == most_findings) {
        ++findings.others;
        return;
    }
    findings.findings[findings.count++] = {mistake,      place.space, buffer,     requests.block, thread,       other.block,
                                           other.thread, site,        other.site, 0,              place.offset, 1};
}

struct Observed {
    Operation operation;
    unsigned site;
    unsigned thread;
};

EMULATOR_UNCOUNTED inline bool comes_before(const Access &earlier, unsigned thread)
{
    if (earlier.block != requests.block)
        return is_released(earlier.block, earlier.thread, earlier.moment);
    return earlier.thread == thread || is_ordered(earlier.thread, earlier.moment, thread);
}

EMULATOR_UNCOUNTED inline bool races(const Access &earlier, const Access &now)
{
    return earlier.moment != 0 && (earlier.bytes & now.bytes) != 0 && !(earlier.is_atomic && now.is_atomic) &&
           !comes_before(earlier, now.thread);
}

EMULATOR_UNCOUNTED inline void remember_read(Cell &cell, const Access &now)
{
    for (Access &read : cell.reads)
        if (read.moment == 0 || comes_before(read, now.thread)) {
            read = now;
            return;
        }
    // Three that nothing orders: two of different warps or blocks are enough.
    const auto group = [](const Access &access) EMULATOR_UNCOUNTED {
        return uint64_t(access.block) << 32 | access.thread / lanes_of_a_warp;
    };
    if (group(cell.reads[0]) == group(cell.reads[1]))
        cell.reads[1] = now;
}

EMULATOR_UNCOUNTED inline void check_word(Cell &cell, const Place &place, const Access &now, Operation operation)
{
    const uint32_t valid_in = place.space == shared_memory ? ordering.block_run : ordering.launch;
    if (cell.valid_in != valid_in) {
        cell.valid_in = valid_in;
        cell.write.moment = cell.reads[0].moment = cell.reads[1].moment = 0;
        if (place.space == shared_memory)
            cell.initialised = 0;
    }
    if (races(cell.write, now))
        report(race, place, now.site, now.thread, cell.write);
    if (operation != store && (cell.initialised & now.bytes) != now.bytes) {
        report(uninitialised, place, now.site, now.thread, now);
        cell.initialised |= now.bytes; // Once is enough.
    }
    if (operation == load) {
        remember_read(cell, now);
        return;
    }
    for (const Access &read : cell.reads)
        if (races(read, now))
            report(race, place, now.site, now.thread, read);
    cell.initialised |= now.bytes;
    cell.write = now;
}

EMULATOR_UNCOUNTED inline void check_access(const Place &place, size_t size, Operation operation, unsigned site,
                                            unsigned thread)
{
    Access now = {requests.block, ordering.moment, uint16_t(thread), uint16_t(site), 0, operation == atomic};
    if (!place.inside) {
        report(out_of_bounds, place, site, thread, now);
        return;
    }
    Cell *cells = place.space == shared_memory ? spaces.shared_cells : spaces.buffers[place.buffer].cells;
    if (cells == nullptr)
        return;
    for (size_t byte = size_t(place.offset), end = byte + size; byte < end;) {
        const size_t first = byte % word;
        const size_t bytes = word - first < end - byte ? word - first : end - byte;
        now.bytes = static_cast<unsigned char>(((1u << bytes) - 1) << first);
        Place here = place;
        here.offset = ptrdiff_t(byte);
        check_word(cells[byte / word], here, now, operation);
        byte += bytes;
    }
}

} // namespace emulator::counting
