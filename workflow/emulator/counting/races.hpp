// Mistakes in the use of memory, from what is remembered of each of its words: two accesses that nothing orders, at
// least one of them a write; a read of what nothing has written; an access past a buffer's end.
//
// Each word's cell holds the last write and two unordered reads, preferably by different warps or blocks. If a later
// write races with any earlier access, it races with one of these. (One exception: if a __syncwarp of part of a warp
// has ordered two of several readers, a third one of that warp may be missed.) So memory grows with the buffers, not
// with the accesses.
#pragma once

#include "ordering.hpp"

namespace emulator::counting {

constexpr unsigned most_findings = 256; // kinds; of a kernel with more, the first ones

struct Access {
    uint32_t run; // of a block, among the blocks of all launches; 0: there was no such access
    uint32_t moment;
    uint32_t thread;
    uint32_t site;
    uint32_t bytes; // of the word, a bit for each
};

// An access as it is kept, in ten bytes.
struct alignas(2 * 16) Cell {
    uint32_t runs[3];
    uint32_t moments[3]; // and threads
    uint16_t sites[3];   // and bytes
    unsigned char initialised; // a bit for each byte
    unsigned char in_flight;   // likewise: an asynchronous copy writes it (copies.hpp)

    EMULATOR_UNCOUNTED Access get(unsigned which) const
    {
        return {runs[which], moments[which] / most_threads, moments[which] % most_threads, sites[which] % most_sites,
                sites[which] / most_sites};
    }

    EMULATOR_UNCOUNTED void set(unsigned which, const Access &access)
    {
        runs[which] = access.run;
        moments[which] = access.moment * most_threads + access.thread;
        sites[which] = uint16_t(access.bytes * most_sites + access.site);
    }
};

static_assert(sizeof(Cell) == 32, "a cell lies in one cache line");

constexpr unsigned last_write = 0; // among a cell's accesses
constexpr unsigned first_read = 1;
constexpr unsigned second_read = 2;

// Zeroed cells for `size` bytes of memory; null if there is no memory left. The system adds pages when they are
// touched, large ones if it has them: lanes far apart touch cells farther apart, each on a page of its own.
EMULATOR_UNCOUNTED inline Cell *make_cells(size_t size)
{
    const size_t bytes = (size + word - 1) / word * sizeof(Cell);
    void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<Cell *>(memory);
}

EMULATOR_UNCOUNTED inline void release_cells(Cell *cells, size_t size)
{
    munmap(cells, (size + word - 1) / word * sizeof(Cell));
}

enum Mistake : uint32_t { race, uninitialised, out_of_bounds, inactive_lane };

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
    uint32_t grid[3]; // of the launch
    uint32_t block_size[3];
    uint32_t differs; // for two writes while doubts are settled: whether some stored another value than was there
    uint32_t fenced; // of a race: whether there are fences that could order the two
    uint32_t in_flight; // of a race: whether one of the two is an asynchronous copy that is not waited for
    int64_t offset; // of an inactive lane: the lane
    uint64_t count;
    const char *file; // where it is not null: the place, in place of the sites
    uint32_t line;
};

struct Findings {
    Finding findings[most_findings];
    unsigned count;
    uint32_t grid[3]; // of this launch
    uint32_t block_size[3];
};

inline Findings findings;

// A word of a write that races with an earlier write, and its content before it.
struct DoubtedWrite {
    uint32_t finding;
    unsigned char *address;
    uint32_t bytes; // a bit for each
    unsigned char before[word];
};

// Memory that nothing has written is filled with a byte, and writes are watched for what they store: a run that shows
// whether findings matter. A write's value is in memory when the next access is seen.
struct Doubts {
    bool are_settled;
    unsigned char filling;
    bool is_range; // of a write whose pieces are seen before the first is stored: it counts as one of another value
    DoubtedWrite writes[2 * largest_access / word];
    unsigned count;
};

inline Doubts doubts;

EMULATOR_UNCOUNTED inline void doubt_write(uint32_t finding, const Place &place, uint32_t bytes)
{
    if (doubts.is_range || doubts.count == sizeof doubts.writes / sizeof *doubts.writes) {
        findings.findings[finding].differs = true;
        return;
    }
    const uintptr_t start = place.space == global_memory ? spaces.buffers[place.buffer].start
                            : place.buffer == 0          ? spaces.shared
                                                         : uintptr_t(spaces.cluster[place.buffer - 1].shared);
    DoubtedWrite &write = doubts.writes[doubts.count++];
    write = {finding, reinterpret_cast<unsigned char *>(start + size_t(place.offset) / word * word), bytes, {}};
    for (unsigned byte = 0; byte < word; ++byte)
        if (bytes >> byte & 1)
            write.before[byte] = write.address[byte];
}

EMULATOR_UNCOUNTED inline void settle_writes()
{
    for (unsigned i = 0; i < doubts.count; ++i)
        for (unsigned byte = 0; byte < word; ++byte) {
            const DoubtedWrite &write = doubts.writes[i];
            if ((write.bytes >> byte & 1) && write.address[byte] != write.before[byte])
                findings.findings[write.finding].differs = true;
        }
    doubts.count = 0;
}

// The finding of this kind between these places, or null where there is no room for one more.
EMULATOR_UNCOUNTED inline Finding *find_finding(Mistake mistake, const Place &place, const Access &now,
                                                const Access &other, const char *file = nullptr, uint32_t line = 0)
{
    const uint32_t buffer = place.space == global_memory ? spaces.buffers[place.buffer].number : 0;
    for (unsigned i = 0; i < findings.count; ++i) {
        Finding &found = findings.findings[i];
        const bool is_same = found.site == now.site && found.other_site == other.site;
        const bool is_reverse = found.site == other.site && found.other_site == now.site;
        const bool is_there = found.file == file && found.line == line;
        if (found.mistake == mistake && found.buffer == buffer && is_there && (is_same || is_reverse))
            return &found;
    }
    if (findings.count == most_findings)
        return nullptr;
    const uint32_t block = now.run - ordering.first_run;
    const uint32_t other_block = other.run - ordering.first_run;
    Finding &found = findings.findings[findings.count++];
    found = {mistake,      place.space, buffer,     block, now.thread, other_block,
             other.thread, now.site,    other.site, {},    {},         0,
             0,            0,           place.offset, 0,          file, line};
    memcpy(found.grid, findings.grid, sizeof found.grid);
    memcpy(found.block_size, findings.block_size, sizeof found.block_size);
    return &found;
}

__attribute__((noinline, cold)) EMULATOR_UNCOUNTED inline void report(Mistake mistake, const Place &place,
                                                                      const Access &now, const Access &other,
                                                                      bool in_flight = false)
{
    Finding *const found = find_finding(mistake, place, now, other);
    if (found == nullptr)
        return;
    ++found->count;
    found->in_flight |= in_flight;
    found->differs |= in_flight; // What the copy brings is not known yet.
    found->fenced = now.run == other.run ? ordering.fences_in_block : ordering.fences_on_device;
    const bool are_writes =
        requests.sites[now.site].operation == store && requests.sites[other.site].operation == store;
    if (doubts.are_settled && mistake == race && are_writes)
        doubt_write(uint32_t(found - findings.findings), place, now.bytes & other.bytes);
}

// Whether an access is by a block that takes turns with the running one.
EMULATOR_UNCOUNTED_INLINE bool takes_turns(const Access &access)
{
    return access.run >= ordering.first_run && access.moment > ordering.turns_began;
}

// Whether an access is of this launch, or in shared memory by this block or its cluster's: what was before is ordered,
// or forgotten.
EMULATOR_UNCOUNTED_INLINE bool is_current(const Access &access, Space space)
{
    return space == shared_memory ? access.run == requests.run || takes_turns(access)
                                  : access.run >= ordering.first_run;
}

EMULATOR_UNCOUNTED_INLINE bool comes_before(const Access &earlier, unsigned thread)
{
    if (earlier.run != requests.run)
        return (takes_turns(earlier) && earlier.moment <= ordering.grid_ordered) ||
               is_released(earlier.run, earlier.thread, earlier.moment, thread);
    return earlier.thread == thread || is_ordered(earlier.thread, earlier.moment, thread);
}

EMULATOR_UNCOUNTED_INLINE bool races(const Access &earlier, const Access &now, Space space)
{
    const auto is_atomic = [](const Access &access) EMULATOR_UNCOUNTED {
        return requests.sites[access.site].operation == atomic;
    };
    return is_current(earlier, space) && (earlier.bytes & now.bytes) != 0 && !comes_before(earlier, now.thread) &&
           !(is_atomic(earlier) && is_atomic(now));
}

EMULATOR_UNCOUNTED_INLINE void remember_read(Cell &cell, const Access &now, Space space)
{
    const Access first = cell.get(first_read);
    if (!is_current(first, space) || comes_before(first, now.thread)) {
        cell.set(first_read, now);
        return;
    }
    const Access second = cell.get(second_read);
    // If three reads are unordered, it is enough to keep two of different warps or blocks.
    const bool are_together =
        first.run == second.run && first.thread / lanes_of_a_warp == second.thread / lanes_of_a_warp;
    if (!is_current(second, space) || are_together || comes_before(second, now.thread))
        cell.set(second_read, now);
}

EMULATOR_UNCOUNTED_INLINE void check_word(Cell &cell, const Place &place, const Access &now, Operation operation)
{
    const Access write = cell.get(last_write);
    if (place.space == shared_memory && !is_current(write, shared_memory))
        cell.initialised = cell.in_flight = 0;
    const bool in_flight = (cell.in_flight & now.bytes) != 0;
    if (in_flight || races(write, now, place.space))
        report(race, place, now, write, in_flight);
    if (operation != store && (cell.initialised & now.bytes) != now.bytes)
        report(uninitialised, place, now, now);
    if (operation == load) {
        remember_read(cell, now, place.space);
        return;
    }
    for (unsigned read = first_read; read <= second_read; ++read)
        if (races(cell.get(read), now, place.space))
            report(race, place, now, cell.get(read));
    cell.initialised = static_cast<unsigned char>(cell.initialised | now.bytes);
    cell.set(last_write, now);
}

// An access to be checked. The check takes place before anything more is ordered; what is missing here is the block's
// and the site's.
struct Pending {
    ptrdiff_t offset; // as in Place
    uint32_t moment; // and thread
    uint16_t site;
    uint16_t buffer;
};

// A check waits until `most_pending` more accesses have been made: its cells are on their way from memory meanwhile.
// With 16, kernels that read large arrays took a sixth longer. All are made before the next synchronisation.
constexpr unsigned most_pending = 64;

struct PendingChecks {
    Pending ring[most_pending];
    unsigned first;
    unsigned count;
};

inline PendingChecks pending_checks;

EMULATOR_UNCOUNTED_INLINE Cell *cells_of(Space space, unsigned buffer)
{
    return space == global_memory ? spaces.buffers[buffer].cells
           : buffer == 0          ? spaces.shared_cells
                                  : spaces.cluster[buffer - 1].cells;
}

EMULATOR_UNCOUNTED_INLINE void check_first_pending()
{
    const Pending pending = pending_checks.ring[pending_checks.first];
    pending_checks.first = (pending_checks.first + 1) % most_pending;
    --pending_checks.count;
    const Site &site = requests.sites[pending.site];
    Cell *const cells = cells_of(site.space, pending.buffer);
    Place here = {site.space, pending.buffer, pending.offset, true};
    Access now = {requests.run, pending.moment / most_threads, pending.moment % most_threads, pending.site, 0};
    for (size_t byte = size_t(pending.offset), end = byte + site.size; byte < end;) {
        const size_t first = byte % word;
        const size_t bytes = word - first < end - byte ? word - first : end - byte;
        now.bytes = ((1u << bytes) - 1) << first;
        here.offset = ptrdiff_t(byte);
        check_word(cells[byte / word], here, now, site.operation);
        byte += bytes;
    }
}

EMULATOR_UNCOUNTED inline void check_pending()
{
    while (pending_checks.count != 0)
        check_first_pending();
}

EMULATOR_UNCOUNTED_INLINE void check_access(const Place &place, unsigned site, unsigned thread)
{
    if (!place.inside) {
        const Access now = {requests.run, ordering.moment, thread, site, 0};
        report(out_of_bounds, place, now, now);
        return;
    }
    if (pending_checks.count == most_pending)
        check_first_pending();
    __builtin_prefetch(cells_of(place.space, place.buffer) + size_t(place.offset) / word, 1);
    pending_checks.ring[(pending_checks.first + pending_checks.count++) % most_pending] = {
        place.offset, ordering.moment * most_threads + thread, uint16_t(site), uint16_t(place.buffer)};
}

// An atomic function of a thread, which learns of what was released at the address once it passes a fence.
EMULATOR_UNCOUNTED inline void pass_atomic(uintptr_t address, unsigned thread, bool is_global)
{
    const bool releases = ordering.has_fences && ordering.fences[thread].of_block != 0;
    if (!releases && ordering.flag_count == 0)
        return;
    Flag *const flag = find_flag(address, releases);
    if (flag == nullptr)
        return;
    const uint16_t touched = uint16_t(flag - ordering.flags + 1);
    if (ordering.touched[thread] != 0 && ordering.touched[thread] != touched) {
        check_pending();
        learn(thread, true); // One flag is remembered: the other's fence is taken to have been.
    }
    ordering.touched[thread] = touched;
    ordering.has_touched = true;
    if (releases)
        release_at(*flag, thread, is_global);
}

// Returns the moment up to which the thread's accesses come before what follows the waits for the phase.
EMULATOR_UNCOUNTED inline uint32_t pass_phase(uintptr_t flag, unsigned thread)
{
    check_pending();
    const uint32_t now = advance();
    release_in_block(*find_flag(flag, true), thread, now);
    return now;
}

} // namespace emulator::counting
