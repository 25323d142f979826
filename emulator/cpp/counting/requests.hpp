// Accesses of a warp's lanes, grouped into the requests that a GPU makes of them, and each request's cost.
//
// A lane runs up to its next synchronisation before the next lane does, so a request's lanes arrive one after another.
// The k-th execution of a call site by one lane belongs with the k-th by another; k starts anew at every barrier and
// warp-level operation. That is exact for lanes that execute a call site equally often between two synchronisations, or
// stop earlier than others.
//
// A request is held open until no lane can join it, and then becomes numbers in its site's tally. A lane that makes
// many accesses without synchronising is paused after `round_length` of them until its warp's others are as far, so few
// requests are open at any time, however many there are.
#pragma once

#include "spaces.hpp"

namespace emulator::counting {

constexpr size_t sector = 32; // bytes
constexpr size_t largest_access = 16;
constexpr unsigned banks = 32;
constexpr unsigned most_sites = 4096;
constexpr unsigned site_slots = 2 * most_sites;
constexpr unsigned round_length = 251; // a prime: the last accesses of rounds are each of a short loop's in turn
constexpr unsigned most_requests = 2 * round_length * lanes_of_a_warp;
constexpr unsigned request_slots = 2 * most_requests;

// The last four are atomic for all threads, for those of a block, and the same of those that only write.
enum Operation : unsigned char { load, store, atomic, atomic_of_block, atomic_store, atomic_store_of_block };

EMULATOR_UNCOUNTED_INLINE constexpr bool is_of_block(Operation operation)
{
    return operation == atomic_of_block || operation == atomic_store_of_block;
}

// The counts of a call site. Sectors belong to global memory, wavefronts and conflicts to shared memory.
struct Tally {
    uint64_t requests;
    uint64_t lanes;    // active in them
    uint64_t partial;  // requests in which not all of the warp's lanes were active
    uint64_t bytes;    // that the lanes asked for
    uint64_t sectors;
    uint64_t wavefronts;
    uint64_t conflicts; // wavefronts beyond those that the width of the access needs
};

// A place in the code that accesses one space in one way.
struct Site {
    uintptr_t address; // of the code
    uint32_t size;     // bytes a lane
    Space space;
    Operation operation;
    bool is_doubted;  // a plain read that races with atomic functions
    bool is_of_range; // while doubts are settled: the access is not made before the next one is seen
    Tally tally;
};

struct Request {
    uint32_t site;
    uint32_t interval;
    uint32_t occurrence;
    uint32_t moment;
    Lanes lanes;
    uintptr_t addresses[lanes_of_a_warp];
};

// How often a lane has executed a site in its interval, which `stamp` names.
struct Occurrences {
    uint64_t stamp;
    uint64_t count;
};

struct RequestSlot {
    uint32_t generation;
    uint32_t request;
};

struct Traced {
    Lanes lanes;
    uint32_t run; // of the block
    uint32_t site;
    uint32_t moment;
    uint32_t buffer;
    uint32_t sectors;
    uint32_t wavefronts;
    uint32_t conflicts;
    int64_t offsets[lanes_of_a_warp];
};

// One chosen warp's requests in order, up to a capacity.
struct Trace {
    Traced *entries;
    uint32_t capacity;
    uint32_t count;
    uint32_t block;
    uint32_t warp;
};

struct Requests {
    Site sites[most_sites];
    unsigned site_count;
    bool has_block_scope; // whether some site has atomic functions for a block
    uint16_t slots[site_slots]; // index of a site plus one

    Request open[most_requests];
    unsigned open_count;
    RequestSlot open_slots[request_slots];
    uint32_t generation;
    unsigned next; // the request that the running lane most likely joins
    unsigned running_lane;

    Occurrences occurrences[lanes_of_a_warp][most_sites];
    uint64_t stamps[lanes_of_a_warp];
    uint32_t intervals[lanes_of_a_warp];
    uint64_t last_stamp;

    Lanes existing_lanes; // of the running warp
    unsigned round[lanes_of_a_warp];
    Lanes paused;

    uint32_t run; // counts the blocks of all launches
    uint32_t block;
    uint32_t warp;
    Trace trace;
};

inline Requests requests;

constexpr unsigned no_site = ~0u;

// The site's index; `no_site` where there are too many.
EMULATOR_UNCOUNTED_INLINE unsigned find_site(uintptr_t address, size_t size, Space space, Operation operation)
{
    const auto is_it = [&](const Site &site) EMULATOR_UNCOUNTED {
        return site.address == address && site.space == space && site.operation == operation && site.size == size;
    };
    // Mostly, the lane does the same as the lane before it.
    if (requests.next < requests.open_count && is_it(requests.sites[requests.open[requests.next].site]))
        return requests.open[requests.next].site;
    unsigned slot = unsigned((address * 0x9e3779b97f4a7c15u) >> 40) + space * 3 + operation;
    for (;; ++slot) {
        slot %= site_slots;
        const unsigned found = requests.slots[slot];
        if (found == 0)
            break;
        if (is_it(requests.sites[found - 1]))
            return found - 1;
    }
    if (requests.site_count == most_sites)
        return no_site;
    requests.sites[requests.site_count] = {address, uint32_t(size), space, operation, false, false, {}};
    requests.has_block_scope |= is_of_block(operation);
    requests.slots[slot] = uint16_t(++requests.site_count);
    return requests.site_count - 1;
}

// A set of a request's sectors or words. Neighbouring lanes mostly come in ascending order, which is one comparison.
struct Units {
    uintptr_t units[lanes_of_a_warp * (largest_access / word + 1)];
    unsigned count;

    EMULATOR_UNCOUNTED void add(uintptr_t unit)
    {
        if (count == 0 || unit > units[count - 1]) {
            units[count++] = unit;
            return;
        }
        for (unsigned i = count; i-- > 0;)
            if (units[i] == unit)
                return;
        // Kept sorted, so that the last stays the largest.
        unsigned place = count++;
        for (; place > 0 && units[place - 1] > unit; --place)
            units[place] = units[place - 1];
        units[place] = unit;
    }

    EMULATOR_UNCOUNTED void add_bytes(uintptr_t address, size_t size, size_t unit)
    {
        for (uintptr_t next = address / unit; next <= (address + size - 1) / unit; ++next)
            add(next);
    }
};

EMULATOR_UNCOUNTED inline unsigned sectors_of(const Request &request, size_t size)
{
    Units units;
    units.count = 0;
    for (Lanes rest = request.lanes; rest != 0; rest &= rest - 1)
        units.add_bytes(request.addresses[first_of(rest)], size, sector);
    return units.count;
}

// Shared memory serves 128 bytes at a time: all lanes of accesses up to 4 bytes, half a warp of 8, a quarter of 16.
EMULATOR_UNCOUNTED inline void add_wavefronts(const Request &request, size_t size, Tally &tally)
{
    const unsigned part = size <= word ? banks : size <= 2 * word ? banks / 2 : banks / 4;
    for (unsigned first = 0; first < lanes_of_a_warp; first += part) {
        Lanes lanes = request.lanes & (all_lanes >> (lanes_of_a_warp - part) << first);
        if (lanes == 0)
            continue;
        Units words;
        words.count = 0;
        for (; lanes != 0; lanes &= lanes - 1)
            words.add_bytes(request.addresses[first_of(lanes)], size, word);
        unsigned char in_bank[banks] = {};
        unsigned most = 0;
        for (unsigned i = 0; i < words.count; ++i) {
            const unsigned here = ++in_bank[words.units[i] % banks];
            most = here > most ? here : most;
        }
        tally.wavefronts += most;
        tally.conflicts += most - 1;
    }
}

EMULATOR_UNCOUNTED inline void trace_request(const Request &request, const Site &site, const Tally &before)
{
    Trace &trace = requests.trace;
    if (trace.count == trace.capacity)
        return;
    Traced &entry = trace.entries[trace.count++];
    const Tally &now = site.tally;
    entry = {request.lanes,
             requests.run,
             request.site,
             request.moment,
             0,
             uint32_t(now.sectors - before.sectors),
             uint32_t(now.wavefronts - before.wavefronts),
             uint32_t(now.conflicts - before.conflicts),
             {}};
    for (Lanes rest = request.lanes; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_of(rest);
        Place place = {};
        find_place(request.addresses[lane], site.size, place);
        entry.buffer = place.space == global_memory ? spaces.buffers[place.buffer].number : 0;
        entry.offsets[lane] = place.offset;
    }
}

// No lane can join the request any more.
EMULATOR_UNCOUNTED inline void close_request(const Request &request)
{
    Site &site = requests.sites[request.site];
    Tally &tally = site.tally;
    const Tally before = tally;
    const unsigned lanes = count_of(request.lanes);
    ++tally.requests;
    tally.lanes += lanes;
    tally.partial += request.lanes != requests.existing_lanes;
    tally.bytes += lanes * site.size;
    if (site.space == global_memory)
        tally.sectors += sectors_of(request, site.size);
    else
        add_wavefronts(request, site.size, tally);
    if (requests.trace.capacity != 0 && requests.block == requests.trace.block && requests.warp == requests.trace.warp)
        trace_request(request, site, before);
}

EMULATOR_UNCOUNTED inline void forget_requests()
{
    requests.open_count = 0;
    requests.next = 0;
    ++requests.generation;
}

EMULATOR_UNCOUNTED inline void close_requests()
{
    for (unsigned i = 0; i < requests.open_count; ++i)
        close_request(requests.open[i]);
    forget_requests();
}

// Lanes begin to count occurrences anew.
EMULATOR_UNCOUNTED inline void start_interval(Lanes lanes)
{
    ++requests.last_stamp;
    uint32_t interval = 0;
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1) {
        const uint32_t before = requests.intervals[first_of(rest)];
        interval = before > interval ? before : interval;
    }
    for (Lanes rest = lanes; rest != 0; rest &= rest - 1) {
        requests.stamps[first_of(rest)] = requests.last_stamp;
        requests.intervals[first_of(rest)] = interval + 1;
        requests.round[first_of(rest)] = 0;
    }
}

EMULATOR_UNCOUNTED inline RequestSlot &find_slot(uint32_t site, uint32_t interval, uint32_t occurrence)
{
    uint64_t key = (uint64_t(site) << 32 | occurrence) * 0x9e3779b97f4a7c15u + interval * 0xc2b2ae3d27d4eb4fu;
    unsigned slot = unsigned(key >> 32) % request_slots;
    for (;; slot = (slot + 1) % request_slots) {
        RequestSlot &candidate = requests.open_slots[slot];
        if (candidate.generation != requests.generation)
            return candidate;
        const Request &request = requests.open[candidate.request];
        if (request.site == site && request.interval == interval && request.occurrence == occurrence)
            return candidate;
    }
}

EMULATOR_UNCOUNTED_INLINE void join_request(unsigned site, unsigned lane, uintptr_t address, uint32_t moment)
{
    Occurrences &seen = requests.occurrences[lane][site];
    if (seen.stamp != requests.stamps[lane])
        seen = {requests.stamps[lane], 0};
    const uint32_t occurrence = uint32_t(seen.count++);
    const uint32_t interval = requests.intervals[lane];
    if (lane != requests.running_lane) {
        requests.running_lane = lane;
        requests.next = 0;
    }
    unsigned index = requests.next;
    const Request &likely = requests.open[index];
    if (!(index < requests.open_count && likely.site == site && likely.interval == interval &&
          likely.occurrence == occurrence)) {
        RequestSlot *slot = &find_slot(site, interval, occurrence);
        if (slot->generation != requests.generation) {
            if (requests.open_count == most_requests) {
                close_requests();
                slot = &find_slot(site, interval, occurrence);
            }
            *slot = {requests.generation, requests.open_count};
            Request &opened = requests.open[requests.open_count++];
            opened.site = site;
            opened.interval = interval;
            opened.occurrence = occurrence;
            opened.lanes = 0;
            opened.moment = moment;
        }
        index = slot->request;
    }
    Request &joined = requests.open[index];
    joined.lanes |= only_lane(lane);
    joined.addresses[lane] = address;
    requests.next = index + 1;
}

// Whether a paused lane may still execute the request's site for that time.
EMULATOR_UNCOUNTED inline bool can_be_joined(const Request &request)
{
    for (Lanes rest = requests.paused; rest != 0; rest &= rest - 1) {
        const unsigned lane = first_of(rest);
        if (requests.intervals[lane] != request.interval)
            continue;
        const Occurrences &seen = requests.occurrences[lane][request.site];
        if ((seen.stamp == requests.stamps[lane] ? seen.count : 0) <= request.occurrence)
            return true;
    }
    return false;
}

// All lanes of the warp wait, have ended or are paused: closes what no lane can join. Lanes that are so far apart that
// too much would stay open are counted as requests of their own.
EMULATOR_UNCOUNTED inline void end_round()
{
    unsigned kept = 0;
    const unsigned count = requests.open_count;
    for (unsigned i = 0; i < count; ++i) {
        const Request &request = requests.open[i];
        if (can_be_joined(request))
            requests.open[kept++] = request;
        else
            close_request(request);
    }
    forget_requests();
    if (kept > most_requests / 2) {
        requests.open_count = kept;
        close_requests();
        return;
    }
    requests.open_count = kept;
    for (unsigned i = 0; i < kept; ++i) {
        const Request &request = requests.open[i];
        find_slot(request.site, request.interval, request.occurrence) = {requests.generation, i};
    }
}

} // namespace emulator::counting
