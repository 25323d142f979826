// Mistakes in the use of memory, from what is remembered of each of its words: two accesses that nothing orders, at
// least one of them a write; a read of what nothing has written; an access past a buffer's end.
//
// A cell holds the last write and two unordered reads, preferably by different warps or blocks. While the last write is
// an atomic function, a further cell holds the last plain write and two unordered atomic functions before it. An access
// that races with earlier ones, the first to do so in its cell, races with one of these, with three exceptions:
//
// - if only some of several unordered readers come before a write, by a __syncwarp of part of a warp or by flags, another
//   one may be missed; so it is with atomic functions before a plain access;
// - what a thread reads or writes plainly after its atomic function at the same address, if it has called none elsewhere
//   since, is taken to come after all atomic functions there before: it may know of them by the function's result;
// - after a race, another one in its cell may be missed.
//
// A cell is a word's, whose bytes are accessed together. A word of which parts are accessed has one for each half or byte.
// So memory grows with the buffers, not with the accesses.
#pragma once

#include "dependent_launches.hpp"

namespace emulator::counting {

constexpr unsigned most_findings = 256; // kinds; of a kernel with more, the first ones

struct Access {
    uint32_t run; // of a block, among the blocks of all launches; 0: there was no such access
    uint32_t moment;
    uint32_t thread;
    uint32_t site;
    uint32_t bytes; // of the word, a bit for each
};

// Accesses as they are kept, in ten bytes each; and what is known of a word.
struct alignas(2 * 16) Cell {
    uint32_t runs[3];
    uint32_t moments[3]; // and threads
    uint16_t sites[3];   // and bytes
    unsigned char initialised; // a bit for each byte, if not as most; of a variable four more: read before it was written
    unsigned char in_flight : 4;   // likewise: an asynchronous copy writes it (copies.hpp)
    unsigned char parts : 3;       // that have cells of their own: 2 or 4; 0: none
    unsigned char has_earlier : 1; // whether a further cell holds accesses before the last write

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

constexpr uint32_t all_bytes = (1u << word) - 1; // of a word

__attribute__((noreturn)) void fail_for_memory(); // in hooks.hpp

// Zeroed cells for `size` bytes of memory, of which `cells` is null if there is no memory left. The system adds pages when
// they are touched, large ones if it has them: lanes far apart touch cells farther apart, each on a page of its own.
EMULATOR_UNCOUNTED inline Shadow make_shadow(size_t size)
{
    const size_t words = (size + word - 1) / word, bytes = words * sizeof(Cell);
    void *const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return {};
    madvise(memory, bytes, MADV_HUGEPAGE);
    return {static_cast<Cell *>(memory), nullptr, words, true, 0};
}

EMULATOR_UNCOUNTED inline void release_shadow(const Shadow &shadow)
{
    if (shadow.cells != nullptr)
        munmap(shadow.cells, shadow.words * sizeof(Cell));
    if (shadow.further != nullptr)
        munmap(shadow.further, 2 * word * shadow.words * sizeof(Cell));
}

EMULATOR_COLD inline void make_further_cells(Shadow &shadow)
{
    void *const memory = mmap(nullptr, 2 * word * shadow.words * sizeof(Cell), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail_for_memory();
    shadow.further = static_cast<Cell *>(memory);
}

// The cells of a word's bytes, and as far behind all of these, those of what was before the last writes there.
EMULATOR_UNCOUNTED_INLINE Cell *further_cells(Shadow &shadow, size_t index)
{
    if (__builtin_expect(shadow.further == nullptr, 0))
        make_further_cells(shadow);
    return shadow.further + word * index;
}

EMULATOR_UNCOUNTED_INLINE Cell &earlier_cell(Shadow &shadow, size_t index, unsigned part)
{
    return further_cells(shadow, index)[word * shadow.words + part];
}

// Why two accesses of a race are unordered: nothing orders them; one is an asynchronous copy that is not waited for; one is
// a bulk copy, and no fence for the asynchronous proxy comes between. Of an access out of bounds: its memory was freed.
enum Cause : uint32_t { unordered, in_flight, across_proxies, freed };

enum Mistake : uint32_t { race, uninitialised, out_of_bounds, inactive_lane, other_barrier, partial_barrier, unfenced_barrier };

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
    uint32_t cause;
    uint32_t launches_before; // of a race: how many launches before this one the other access was
    uint32_t other_grid[3]; // of its launch
    uint32_t other_block_size[3];
    uint32_t has_waited; // of a race with an earlier launch: whether the thread has waited for the one before its own
    int64_t offset; // of an inactive lane: the lane; of another barrier: the others' line
    uint64_t count;
    const char *file; // where it is not null: the place, in place of the sites
    uint32_t line;
    const char *other_name; // of a race: the kernel of the other access; of another barrier: the others' file
    uint32_t allocated; // in the heap: the bytes of the allocation, and the site of the call that gave it, plus one; else 0
    uint32_t allocated_site;
};

struct Findings {
    Finding findings[most_findings];
    unsigned count;
};

inline Findings findings;

// A word of a write that races with an earlier write, and its content before it.
struct DoubtedWrite {
    uint32_t finding;
    unsigned char *address;
    uint32_t bytes; // a bit for each
    unsigned char before[word];
};

// Memory that nothing has written is filled with a byte, a plain read that races with atomic functions gets this byte, too,
// and writes are watched for what they store: a run that shows whether findings matter. A write's value is in memory, and
// a read is over, when the next access is seen.
struct Doubts {
    bool are_settled;
    unsigned char filling;
    bool is_range; // of an access whose pieces are seen before the first is made: it counts as one of another value
    DoubtedWrite writes[2 * largest_access / word];
    unsigned count;
    unsigned char *read; // what is full of the byte while a thread reads it, or null
    size_t read_size;
    unsigned char before[largest_access];
    const unsigned char *last_read; // the one before, and by whom: what waits for a value gets it every second time
    unsigned last_site, last_thread;
};

inline Doubts doubts;

EMULATOR_UNCOUNTED inline uintptr_t address_of(const Place &place)
{
    const uintptr_t start = place.space == global_memory ? spaces.buffers[place.buffer].start
                            : place.buffer == 0          ? spaces.shared
                                                         : uintptr_t(spaces.cluster[place.buffer - 1].shared);
    return start + uintptr_t(place.offset);
}

EMULATOR_UNCOUNTED inline void doubt_write(uint32_t finding, const Place &place, uint32_t bytes)
{
    if (doubts.is_range || doubts.count == sizeof doubts.writes / sizeof *doubts.writes) {
        findings.findings[finding].differs = true;
        return;
    }
    DoubtedWrite &write = doubts.writes[doubts.count++];
    write = {finding, reinterpret_cast<unsigned char *>(address_of(place) / word * word), bytes, {}};
    for (unsigned byte = 0; byte < word; ++byte)
        if (bytes >> byte & 1)
            write.before[byte] = write.address[byte];
}

EMULATOR_UNCOUNTED inline void doubt_read(uintptr_t address, unsigned site, unsigned thread)
{
    unsigned char *const read = reinterpret_cast<unsigned char *>(address);
    const bool is_again = doubts.last_read == read && doubts.last_site == site && doubts.last_thread == thread;
    doubts.last_read = is_again ? nullptr : read;
    doubts.last_site = site;
    doubts.last_thread = thread;
    if (is_again)
        return;
    doubts.read = read;
    doubts.read_size = requests.sites[site].size;
    for (size_t byte = 0; byte < doubts.read_size; ++byte) {
        doubts.before[byte] = read[byte];
        read[byte] = doubts.filling;
    }
}

EMULATOR_UNCOUNTED inline void settle_doubts()
{
    for (size_t byte = 0; doubts.read != nullptr && byte < doubts.read_size; ++byte)
        doubts.read[byte] = doubts.before[byte];
    doubts.read = nullptr;
    for (unsigned i = 0; i < doubts.count; ++i)
        for (unsigned byte = 0; byte < word; ++byte) {
            const DoubtedWrite &write = doubts.writes[i];
            if ((write.bytes >> byte & 1) && write.address[byte] != write.before[byte])
                findings.findings[write.finding].differs = true;
        }
    doubts.count = 0;
}

EMULATOR_UNCOUNTED_INLINE bool is_atomic(const Access &access)
{
    return requests.sites[access.site].operation >= atomic;
}

// Whether two accesses are so for each other: what is atomic for a block is for that block alone.
EMULATOR_UNCOUNTED_INLINE bool are_atomic(const Access &first, const Access &second)
{
    const Operation one = requests.sites[first.site].operation, other = requests.sites[second.site].operation;
    return one >= atomic && other >= atomic && (first.run == second.run || !(is_of_block(one) || is_of_block(other)));
}

// The finding of this kind between these places, or null where there is no room for one more.
EMULATOR_UNCOUNTED inline Finding *find_finding(Mistake mistake, const Place &place, const Access &now,
                                                const Access &other, const char *file = nullptr, uint32_t line = 0)
{
    const uint32_t buffer = place.space == global_memory ? spaces.buffers[place.buffer].number : 0;
    const unsigned launches_before = other.run < ordering.first_run ? distance_of(other.run) : 0;
    for (unsigned i = 0; i < findings.count; ++i) {
        Finding &found = findings.findings[i];
        const bool is_same = found.site == now.site && found.other_site == other.site;
        const bool is_reverse = found.site == other.site && found.other_site == now.site;
        const bool is_there = found.file == file && found.line == line;
        if (found.mistake == mistake && found.buffer == buffer && is_there && (is_same || is_reverse) &&
            found.launches_before == launches_before)
            return &found;
    }
    if (findings.count == most_findings)
        return nullptr;
    Finding &found = findings.findings[findings.count++];
    found = {};
    found.mistake = mistake;
    found.space = place.space;
    found.buffer = buffer;
    found.block = now.run - ordering.first_run;
    found.thread = now.thread;
    found.other_block = other.run - launch_before(launches_before).first_run;
    found.other_thread = other.thread;
    found.site = now.site;
    found.other_site = other.site;
    found.launches_before = launches_before;
    found.offset = place.offset;
    found.file = file;
    found.line = line;
    const LaunchRecord &launch = launch_before(0), &other_launch = launch_before(launches_before);
    for (unsigned side = 0; side < 3; ++side) {
        found.grid[side] = launch.grid[side];
        found.block_size[side] = launch.block_size[side];
        found.other_grid[side] = other_launch.grid[side];
        found.other_block_size[side] = other_launch.block_size[side];
    }
    found.other_name = other_launch.kernel;
    found.has_waited = launches_before != 0 && has_waited(now.thread);
    if (const Allocation *near = buffer == heap_number ? allocation_near(place.offset) : nullptr) {
        found.offset -= start_of(near);
        found.allocated = near->size;
        found.allocated_site = near->site + 1; // 0 where there were too many
    }
    return &found;
}

__attribute__((noinline, cold)) EMULATOR_UNCOUNTED inline void report(Mistake mistake, const Place &place,
                                                                      const Access &now, const Access &other,
                                                                      Cause cause = unordered)
{
    Finding *const found = find_finding(mistake, place, now, other);
    if (found == nullptr)
        return;
    ++found->count;
    found->cause = found->cause == unordered ? cause : found->cause;
    found->differs |= cause != unordered; // What the copy brings is not known yet.
    found->fenced = now.run == other.run ? ordering.fences_in_block : ordering.fences_on_device;
    Site &here = requests.sites[now.site], &there = requests.sites[other.site];
    here.is_doubted |= mistake == race && here.operation == load && is_atomic(other);
    there.is_doubted |= mistake == race && there.operation == load && is_atomic(now);
    if (doubts.are_settled && mistake == race && here.operation == store && there.operation == store)
        doubt_write(uint32_t(found - findings.findings), place, now.bytes & other.bytes);
}

// Whether an access is by a block that takes turns with the running one.
EMULATOR_UNCOUNTED_INLINE bool takes_turns(const Access &access)
{
    return access.run >= ordering.first_run && access.moment > ordering.turns_began;
}

// Whether an access is of this launch or of one that it may overlap, or in shared memory by this block or its cluster's:
// what was before is ordered, or forgotten.
EMULATOR_UNCOUNTED_INLINE bool is_current(const Access &access, Space space)
{
    return space == shared_memory ? access.run == requests.run || takes_turns(access)
                                  : access.run >= ordering.first_open_run;
}

EMULATOR_UNCOUNTED_INLINE bool comes_before(const Access &earlier, unsigned thread)
{
    if (__builtin_expect(earlier.run < ordering.first_run, 0))
        return is_of_earlier_launch_over(earlier.run, earlier.thread, earlier.moment,
                                         requests.sites[earlier.site].operation == load, thread);
    if (earlier.run != requests.run)
        return (takes_turns(earlier) && earlier.moment <= ordering.grid_ordered) ||
               is_released(earlier.run, earlier.thread, earlier.moment, thread);
    return earlier.thread == thread || is_ordered(earlier.thread, earlier.moment, thread);
}

EMULATOR_UNCOUNTED_INLINE bool races(const Access &earlier, const Access &now, Space space)
{
    return is_current(earlier, space) && (earlier.bytes & now.bytes) != 0 && !are_atomic(earlier, now) &&
           !comes_before(earlier, now.thread);
}

// Keeps a read beside others, or an atomic function beside others. What comes before it, or before what a thread does now
// that comes after it, is needed no more.
EMULATOR_UNCOUNTED_INLINE void remember(Cell &cell, const Access &access, unsigned thread, Space space)
{
    const Access first = cell.get(first_read);
    if (!is_current(first, space) || comes_before(first, thread)) {
        cell.set(first_read, access);
        return;
    }
    const Access second = cell.get(second_read);
    // If three are unordered, it is enough to keep two of different warps or blocks.
    const bool are_together =
        first.run == second.run && first.thread / lanes_of_a_warp == second.thread / lanes_of_a_warp;
    if (!is_current(second, space) || are_together || comes_before(second, thread))
        cell.set(second_read, access);
}

// Whether all that can still come in this launch comes after an access.
EMULATOR_UNCOUNTED inline bool is_behind_all(const Access &access, Space space)
{
    const bool is_of_block = space == shared_memory && spaces.cluster_blocks == 0;
    return (is_of_block && access.moment <= ordering.block_ordered) ||
           (takes_turns(access) && access.moment <= ordering.grid_ordered);
}

// Whether two are kept already that are as unordered as this one, which is so where many threads meet at a word.
EMULATOR_UNCOUNTED_INLINE bool are_many(const Cell &earlier, const Access &access, unsigned thread)
{
    const Access first = earlier.get(first_read), second = earlier.get(second_read);
    const auto is_like = [&](const Access &kept) EMULATOR_UNCOUNTED {
        return kept.run == access.run && kept.moment == access.moment && kept.thread != thread;
    };
    return access.run == requests.run && is_like(first) && is_like(second) &&
           first.thread / lanes_of_a_warp != second.thread / lanes_of_a_warp;
}

// An atomic function takes the place of the last write, which is kept if another access may still race with it.
EMULATOR_UNCOUNTED inline void keep_earlier(Cell &cell, Cell &earlier, const Access &write, unsigned thread, Space space)
{
    if (!cell.has_earlier)
        earlier = {};
    cell.has_earlier = true;
    if (!is_atomic(write))
        earlier.set(last_write, write);
    else if (!are_many(earlier, write, thread))
        remember(earlier, write, thread, space);
}

// Whether the last atomic function that a thread has called is the last one in a cell, for an address of the cell's.
EMULATOR_UNCOUNTED inline bool knows_of_all(const Access &write, const Access &now, const Place &place)
{
    const AtomicCall &last = ordering.last_calls[now.thread];
    return is_atomic(write) && write.run == now.run && write.thread == now.thread && last.run == now.run &&
           address_of(place) - last.address < last.size;
}

EMULATOR_UNCOUNTED inline void check_earlier(const Cell &earlier, const Access &write, const Place &place,
                                             const Access &now)
{
    const bool is_enough = is_atomic(now) ? !requests.has_block_scope : knows_of_all(write, now, place);
    const unsigned end = is_enough ? last_write : second_read;
    for (unsigned which = last_write; which <= end; ++which)
        if (races(earlier.get(which), now, place.space))
            report(race, place, now, earlier.get(which));
}

// Gives cells of their own to the parts of a word of which an access has some: halves, or bytes.
EMULATOR_UNCOUNTED inline void split(Shadow &shadow, size_t index, uint32_t bytes)
{
    constexpr uint32_t half = (1u << word / 2) - 1;
    const uint32_t first = bytes & half, second = bytes >> word / 2;
    const bool are_halves = (first == 0 || first == half) && (second == 0 || second == half);
    Cell &cell = shadow.cells[index];
    Cell *const parts = further_cells(shadow, index);
    for (const unsigned wanted = are_halves ? 2 : word; cell.parts < wanted; cell.parts = wanted & 7u)
        for (unsigned part = word; part-- > 0;) {
            const unsigned whole = cell.parts == 0 ? 0 : part & ~1u;
            parts[part] = cell.parts == 0 ? cell : parts[whole];
            if (parts[part].has_earlier)
                earlier_cell(shadow, index, part) = earlier_cell(shadow, index, whole);
        }
}

// Calls `visit(cell, access, part)` for the cells of those parts of a word that an access has.
template <typename Visit>
EMULATOR_UNCOUNTED_INLINE void visit_parts(Shadow &shadow, size_t index, Access access, Visit visit)
{
    if (shadow.cells[index].parts != word)
        split(shadow, index, access.bytes);
    Cell *const parts = further_cells(shadow, index);
    const unsigned width = word / shadow.cells[index].parts;
    for (uint32_t rest = access.bytes; rest != 0; rest &= ~access.bytes) {
        const unsigned part = first_of(rest) / width * width;
        access.bytes = rest & ((1u << width) - 1) << part;
        visit(parts[part], access, part);
    }
}

EMULATOR_UNCOUNTED_INLINE bool is_whole(const Cell &cell, const Access &access)
{
    return cell.parts == 0 && access.bytes == all_bytes;
}

EMULATOR_UNCOUNTED_INLINE void check_reads(const Cell &cell, const Place &place, const Access &now)
{
    for (unsigned read = first_read; read <= second_read; ++read)
        if (races(cell.get(read), now, place.space))
            report(race, place, now, cell.get(read));
}

// An atomic function, or an access to a cell that has more than the last write and reads.
EMULATOR_UNCOUNTED_INLINE void check_cell(Shadow &shadow, size_t index, Cell &cell, unsigned part, const Place &place,
                                          const Access &now, Operation operation, bool is_in_flight)
{
    const Access write = cell.get(last_write);
    if (is_in_flight || races(write, now, place.space))
        report(race, place, now, write, is_in_flight ? in_flight : unordered);
    if (cell.has_earlier)
        check_earlier(earlier_cell(shadow, index, part), write, place, now);
    if (operation == load) {
        remember(cell, now, now.thread, place.space);
        return;
    }
    check_reads(cell, place, now);
    if (operation == store || !is_current(write, place.space))
        cell.has_earlier = false;
    else if (is_atomic(write) ? !comes_before(write, now.thread) : !is_behind_all(write, place.space))
        keep_earlier(cell, earlier_cell(shadow, index, part), write, now.thread, place.space);
    cell.set(last_write, now);
}

__attribute__((noinline)) EMULATOR_UNCOUNTED inline void check_cells(Shadow &shadow, size_t index, const Place &place,
                                                                     const Access &now, Operation operation)
{
    Cell &of_word = shadow.cells[index];
    if (is_whole(of_word, now)) {
        check_cell(shadow, index, of_word, 0, place, now, operation, of_word.in_flight != 0);
        return;
    }
    visit_parts(shadow, index, now, [&](Cell &cell, const Access &own, unsigned part) EMULATOR_UNCOUNTED {
        check_cell(shadow, index, cell, part, place, own, operation, (of_word.in_flight & own.bytes) != 0);
    });
    if (operation != load)
        of_word.set(last_write, now);
}

EMULATOR_UNCOUNTED_INLINE void check_word(Shadow &shadow, size_t index, const Place &place, const Access &now,
                                          Operation operation)
{
    Cell &cell = shadow.cells[index];
    const Access write = cell.get(last_write);
    if (place.space == shared_memory && !is_current(write, shared_memory))
        cell.initialised = cell.in_flight = 0;
    if (operation != store && operation < atomic_store && ((cell.initialised ^ shadow.most) & now.bytes) != now.bytes) {
        if (place.buffer < most_buffers || place.buffer == heap_buffer)
            report(uninitialised, place, now, now);
        else
            cell.initialised = static_cast<unsigned char>(cell.initialised | (now.bytes & ~cell.initialised) << word);
    }
    if (operation != load)
        cell.initialised = static_cast<unsigned char>(((cell.initialised ^ shadow.most) | now.bytes) ^ shadow.most);
    if (__builtin_expect(!is_whole(cell, now) || cell.has_earlier || cell.in_flight != 0 || operation >= atomic, 0)) {
        check_cells(shadow, index, place, now, operation);
        return;
    }
    if (races(write, now, place.space))
        report(race, place, now, write);
    if (operation == load) {
        remember(cell, now, now.thread, place.space);
        return;
    }
    check_reads(cell, place, now);
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

EMULATOR_UNCOUNTED_INLINE Shadow &shadow_of(Space space, unsigned buffer)
{
    return space == global_memory ? spaces.buffers[buffer].shadow
           : buffer == 0          ? *spaces.shared_shadow
                                  : spaces.cluster[buffer - 1].shadow;
}

EMULATOR_UNCOUNTED_INLINE void check_first_pending()
{
    const Pending pending = pending_checks.ring[pending_checks.first];
    pending_checks.first = (pending_checks.first + 1) % most_pending;
    --pending_checks.count;
    const Site &site = requests.sites[pending.site];
    Shadow &shadow = shadow_of(site.space, pending.buffer);
    Place here = {site.space, pending.buffer, pending.offset, true};
    Access now = {requests.run, pending.moment / most_threads, pending.moment % most_threads, pending.site, 0};
    for (size_t byte = size_t(pending.offset), end = byte + site.size; byte < end;) {
        const size_t first = byte % word;
        const size_t bytes = word - first < end - byte ? word - first : end - byte;
        now.bytes = ((1u << bytes) - 1) << first;
        here.offset = ptrdiff_t(byte);
        check_word(shadow, byte / word, here, now, site.operation);
        byte += bytes;
    }
    if (is_atomic(now)) {
        here.offset = pending.offset;
        ordering.last_calls[now.thread] = {address_of(here), site.size, now.run};
    }
}

EMULATOR_UNCOUNTED inline void check_pending()
{
    while (pending_checks.count != 0)
        check_first_pending();
}

void report_outside(const Place &place, const Access &now); // in heap.hpp

EMULATOR_UNCOUNTED_INLINE void check_access(const Place &place, unsigned site, unsigned thread)
{
    if (!place.inside)
        return report_outside(place, {requests.run, ordering.moment, thread, site, 0});
    if (pending_checks.count == most_pending)
        check_first_pending();
    __builtin_prefetch(shadow_of(place.space, place.buffer).cells + size_t(place.offset) / word, 1);
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
