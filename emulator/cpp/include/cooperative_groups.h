// CUDA's cooperative groups: the grid, the block, tiles of a warp, and the active lanes of a warp.
#pragma once

#include "../emulator.hpp"
#include "../phases.hpp"

#include <string.h>
#include <type_traits>

namespace cooperative_groups {

// A value of any type from one lane to another: of a structure each word.
template <typename Value, typename Exchange>
Value exchange_words(Value value, Exchange exchange)
{
    if constexpr (!std::is_class_v<Value>) {
        return Value(exchange(value));
    } else {
        unsigned words[(sizeof(Value) + 3) / 4] = {};
        memcpy(words, &value, sizeof(Value));
        for (unsigned &word : words)
            word = exchange(word);
        memcpy(&value, words, sizeof(Value));
        return value;
    }
}

// Any group: the block's threads, whole warps of them, or lanes of a warp.
class thread_group {
public:
    EMULATOR_APART void sync(EMULATOR_SITE) const
    {
        if (lanes_ != 0)
            return __syncwarp(lanes_, site);
        ::emulator::Worker &worker = ::emulator::this_worker();
        const void *const caller = __builtin_return_address(0);
        if (size_ >= worker.block_threads) {
            ::emulator::wait_at_barrier(false, site, caller);
            return;
        }
        ::emulator::Phases &tile = worker.tiles[::emulator::most_threads / size_ + worker.current->index / size_];
        if (tile.expected == 0)
            tile = {uint16_t(size_), uint16_t(size_), 0, 0};
        ::emulator::wait_for_phase(tile, ::emulator::arrive(tile, 1, 0, caller, site), caller, site);
    }
    unsigned size() const { return size_; }
    unsigned num_threads() const { return size_; }
    unsigned thread_rank() const { return rank_; }

protected:
    thread_group(::emulator::Lanes lanes, unsigned size, unsigned rank) : lanes_(lanes), size_(size), rank_(rank) {}

    friend thread_group tiled_partition(const thread_group &parent, unsigned size);

    ::emulator::Lanes lanes_; // of the warp; 0 for a block, or for several warps
    unsigned size_;
    unsigned rank_;
};

class thread_block : public thread_group {
public:
    static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned num_threads() { return size(); }
    static unsigned thread_rank() { return ::emulator::this_worker().current->index; }
    static dim3 group_index() { return blockIdx; }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    // What a thread does between the two is taken to come before the wait of the others.
    struct arrival_token {};
    static arrival_token barrier_arrive() { return {}; }
    EMULATOR_APART void barrier_wait(arrival_token &&, EMULATOR_SITE) const
    {
        ::emulator::wait_at_barrier(false, site, __builtin_return_address(0));
    }

private:
    thread_block() : thread_group(0, size(), thread_rank()) {}
    friend thread_block this_thread_block();
};

inline thread_block this_thread_block() { return {}; }

// What tiles of several warps need on older GPUs.
template <unsigned threads = 1024>
struct block_tile_memory {
    unsigned char unused[8];
};
template <unsigned threads>
thread_block this_thread_block(block_tile_memory<threads> &)
{
    return this_thread_block();
}

// The whole launch. Its threads can wait for one another if it is cooperative.
class grid_group {
public:
    static unsigned long long num_blocks() { return (unsigned long long)(gridDim.x) * gridDim.y * gridDim.z; }
    static unsigned long long num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long block_rank() { return ::emulator::this_worker().block_number; }
    static unsigned long long thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static dim3 block_index() { return blockIdx; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
    static bool is_valid() { return ::emulator::this_worker().is_cooperative; }
    EMULATOR_APART void sync(EMULATOR_SITE) const { ::emulator::wait_for_blocks(true, site, __builtin_return_address(0)); }
};

inline grid_group this_grid() { return {}; }

// The blocks of a cluster; one block in a launch without clusters.
class cluster_group {
public:
    static dim3 dim_blocks() { return ::emulator::this_worker().cluster; }
    static unsigned num_blocks() { return ::emulator::this_worker().cluster_blocks; }
    static unsigned num_threads() { return num_blocks() * thread_block::size(); }
    static unsigned size() { return num_threads(); }
    static unsigned block_rank() { return ::emulator::this_worker().cluster_rank; }
    static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
    static dim3 block_index()
    {
        const dim3 of = dim_blocks();
        return dim3(blockIdx.x % of.x, blockIdx.y % of.y, blockIdx.z % of.z);
    }
    static EMULATOR_APART void sync(EMULATOR_SITE)
    {
        ::emulator::wait_for_blocks(false, site, __builtin_return_address(0));
    }
    // What a thread does between the two is taken to come before the wait of the others.
    static void barrier_arrive() {}
    static EMULATOR_APART void barrier_wait(EMULATOR_SITE)
    {
        ::emulator::wait_for_blocks(false, site, __builtin_return_address(0));
    }
    template <typename Value>
    static Value *map_shared_rank(Value *address, unsigned rank, EMULATOR_SITE)
    {
        return static_cast<Value *>(const_cast<void *>(::emulator::map_shared(address, rank, site)));
    }
};

inline cluster_group this_cluster() { return {}; }

// What tiles and coalesced groups share. `Group` says which lane has a rank, and turns masks of lanes into masks of ranks.
template <typename Group>
class lane_group : public thread_group {
public:
    template <typename Value>
    Value shfl(Value value, unsigned rank, EMULATOR_SITE) const
    {
        return from_lane(value, group().lane_of(rank), site);
    }
    // From a rank outside the group, the own value.
    template <typename Value>
    Value shfl_down(Value value, unsigned distance, EMULATOR_SITE) const
    {
        const unsigned rank = distance < size_ - rank_ ? rank_ + distance : rank_;
        return from_lane(value, group().lane_of(rank), site);
    }
    template <typename Value>
    Value shfl_up(Value value, unsigned distance, EMULATOR_SITE) const
    {
        const unsigned rank = distance <= rank_ ? rank_ - distance : rank_;
        return from_lane(value, group().lane_of(rank), site);
    }
    int any(int predicate, EMULATOR_SITE) const { return __any_sync(lanes_, predicate, site); }
    int all(int predicate, EMULATOR_SITE) const { return __all_sync(lanes_, predicate, site); }
    ::emulator::Lanes ballot(int predicate, EMULATOR_SITE) const
    {
        return group().ranks_of(__ballot_sync(lanes_, predicate, site));
    }
    template <typename Value>
    ::emulator::Lanes match_any(Value value, EMULATOR_SITE) const
    {
        return group().ranks_of(__match_any_sync(lanes_, value, site));
    }
    template <typename Value>
    ::emulator::Lanes match_all(Value value, int &are_same, EMULATOR_SITE) const
    {
        return group().ranks_of(__match_all_sync(lanes_, value, &are_same, site));
    }
    template <typename Label>
    ::emulator::Lanes lanes_with(Label label, ::emulator::Site site) const
    {
        return __match_any_sync(lanes_, label, site);
    }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }

protected:
    lane_group(::emulator::Lanes lanes, unsigned size, unsigned rank, unsigned meta_rank, unsigned meta_size)
        : thread_group(lanes, size, rank), meta_rank_(meta_rank), meta_size_(meta_size)
    {
    }

    unsigned meta_rank_; // among the tiles of the group that was divided
    unsigned meta_size_;

private:
    const Group &group() const { return static_cast<const Group &>(*this); }
    template <typename Value>
    Value from_lane(Value value, int lane, ::emulator::Site site) const
    {
        return exchange_words(value, [&](auto word) { return __shfl_sync(lanes_, word, lane, warpSize, site); });
    }
};

// A tile of up to a warp.
template <unsigned Size>
class lanes_tile : public lane_group<lanes_tile<Size>> {
public:
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    template <typename Value>
    Value shfl_xor(Value value, unsigned mask, EMULATOR_SITE) const
    {
        return exchange_words(
            value, [&](auto word) { return __shfl_xor_sync(this->lanes_, word, int(mask), int(Size), site); });
    }

    int lane_of(unsigned rank) const { return int(first_lane() + rank % Size); }
    ::emulator::Lanes ranks_of(::emulator::Lanes lanes) const { return lanes >> first_lane(); }

protected:
    lanes_tile(unsigned parent_rank, unsigned parent_size)
        : lane_group<lanes_tile<Size>>(::emulator::Lanes(~0u >> (32 - Size)) << first_lane(), Size, parent_rank % Size,
                                       parent_rank / Size, (parent_size + Size - 1) / Size)
    {
    }

private:
    static unsigned first_lane() { return thread_block::thread_rank() % warpSize / Size * Size; }
};

// A tile of several warps.
template <unsigned Size>
class warps_tile : public thread_group {
public:
    static constexpr unsigned size() { return Size; }
    static constexpr unsigned num_threads() { return Size; }
    unsigned meta_group_rank() const { return meta_rank_; }
    unsigned meta_group_size() const { return meta_size_; }
    template <typename Value>
    Value shfl(Value value, unsigned rank, EMULATOR_SITE) const
    {
        return told(value, rank_ == rank, site)[rank / warpSize];
    }
    int any(int predicate, EMULATOR_SITE) const
    {
        return combined(__any_sync(~0u, predicate, site), [](int a, int b) { return a | b; }, site);
    }
    int all(int predicate, EMULATOR_SITE) const
    {
        return combined(__all_sync(~0u, predicate, site), [](int a, int b) { return a & b; }, site);
    }

    template <typename Value>
    struct OfWarps {
        Value values[Size / 32];
        Value operator[](unsigned warp) const { return values[warp]; }
    };
    // What one lane of each warp has to tell, or of one warp alone.
    template <typename Value>
    OfWarps<Value> told(Value value, bool tells, ::emulator::Site site) const
    {
        static_assert(sizeof(Value) <= 8, "a tile of more than 32 threads exchanges up to 8 bytes");
        uint64_t *const of_warps = ::emulator::this_worker().of_warps + (thread_block::thread_rank() - rank_) / warpSize;
        if (tells)
            memcpy(&of_warps[rank_ / warpSize], &value, sizeof value);
        sync(site);
        OfWarps<Value> all;
        for (unsigned warp = 0; warp < Size / warpSize; ++warp)
            memcpy(&all.values[warp], &of_warps[warp], sizeof value);
        sync(site);
        return all;
    }
    // Of each warp's value one, in the order of a tree.
    template <typename Value, typename Operation>
    Value combined(Value of_warp, Operation operation, ::emulator::Site site) const
    {
        OfWarps<Value> all = told(of_warp, rank_ % warpSize == 0, site);
        for (unsigned distance = Size / warpSize / 2; distance > 0; distance /= 2)
            for (unsigned warp = 0; warp < distance; ++warp)
                all.values[warp] = operation(all[warp], all[warp + distance]);
        return all[0];
    }

protected:
    warps_tile(unsigned parent_rank, unsigned parent_size)
        : thread_group(0, Size, parent_rank % Size), meta_rank_(parent_rank / Size), meta_size_(parent_size / Size)
    {
    }

    unsigned meta_rank_;
    unsigned meta_size_;
};

template <unsigned Size, typename Parent = void>
class thread_block_tile;

template <unsigned Size>
class thread_block_tile<Size, void> : public std::conditional_t<(Size > 32), warps_tile<Size>, lanes_tile<Size>> {
    static_assert((Size & (Size - 1)) == 0 && Size != 0 && Size <= 1024, "a tile has a power of two threads");
    using Kind = std::conditional_t<(Size > 32), warps_tile<Size>, lanes_tile<Size>>;

protected:
    thread_block_tile(unsigned parent_rank, unsigned parent_size) : Kind(parent_rank, parent_size) {}
};

template <unsigned Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
public:
    explicit thread_block_tile(const Parent &parent)
        : thread_block_tile<Size, void>(parent.thread_rank(), parent.num_threads())
    {
    }
};

template <unsigned Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent &parent)
{
    return thread_block_tile<Size, Parent>(parent);
}

inline thread_group tiled_partition(const thread_group &parent, unsigned size)
{
    const unsigned first = thread_block::thread_rank() % warpSize / size * size;
    return {::emulator::Lanes(~0u >> (32 - size)) << first, size, parent.thread_rank() % size};
}

// The lanes of a warp that are active together.
class coalesced_group : public lane_group<coalesced_group> {
public:
    explicit coalesced_group(::emulator::Lanes lanes)
        : lane_group(lanes, ::emulator::count_of(lanes),
                     ::emulator::count_of(lanes & (::emulator::only_lane(own_lane()) - 1)), 0, 1)
    {
    }

    int lane_of(unsigned rank) const
    {
        ::emulator::Lanes rest = lanes_;
        for (; rank != 0 && rest != 0; --rank)
            rest &= rest - 1;
        return rest != 0 ? int(::emulator::first_of(rest)) : int(own_lane());
    }
    ::emulator::Lanes ranks_of(::emulator::Lanes lanes) const
    {
        ::emulator::Lanes ranks = 0;
        unsigned rank = 0;
        for (::emulator::Lanes rest = lanes_; rest != 0; rest &= rest - 1)
            ranks |= (lanes >> ::emulator::first_of(rest) & 1) << rank++;
        return ranks;
    }

private:
    static unsigned own_lane() { return thread_block::thread_rank() % warpSize; }
};

inline coalesced_group coalesced_threads(EMULATOR_SITE) { return coalesced_group(__activemask(site)); }

// The lanes of a group that have the same label.
template <typename Group, typename Label>
coalesced_group labeled_partition(const Group &group, Label label, EMULATOR_SITE)
{
    return coalesced_group(group.lanes_with(label, site));
}
template <typename Group>
coalesced_group binary_partition(const Group &group, bool predicate, EMULATOR_SITE)
{
    return labeled_partition(group, int(predicate), site);
}

// One thread of a group calls a function: the first one.
template <typename Group, typename Function, typename... Arguments>
void invoke_one(const Group &group, Function &&function, Arguments &&...arguments)
{
    if (group.thread_rank() == 0)
        function(static_cast<Arguments &&>(arguments)...);
}
template <typename Group, typename Function, typename... Arguments>
auto invoke_one_broadcast(const Group &group, Function &&function, Arguments &&...arguments)
{
    decltype(function(static_cast<Arguments &&>(arguments)...)) result = {};
    if (group.thread_rank() == 0)
        result = function(static_cast<Arguments &&>(arguments)...);
    return group.shfl(result, 0);
}

template <typename Group>
void sync(const Group &group, EMULATOR_SITE)
{
    group.sync(site);
}

} // namespace cooperative_groups
