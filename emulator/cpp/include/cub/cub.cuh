// CUB's reductions and scans of a block. Values are combined in the order of the threads, and CUB promises no order.
// As there, only thread 0 gets a reduction's result, and a barrier has to stand before the storage is used again.
#pragma once

#include "../../emulator.hpp"

namespace cub {

struct Sum {
    template <typename T> T operator()(const T &a, const T &b) const { return a + b; }
};
struct Max {
    template <typename T> T operator()(const T &a, const T &b) const { return a < b ? b : a; }
};
struct Min {
    template <typename T> T operator()(const T &a, const T &b) const { return b < a ? b : a; }
};

template <typename Key_, typename Value_> struct KeyValuePair {
    using Key = Key_;
    using Value = Value_;
    Key key;
    Value value;
};
// Of equal values, that with the smaller key.
struct ArgMax {
    template <typename Pair> Pair operator()(const Pair &a, const Pair &b) const
    {
        return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};
struct ArgMin {
    template <typename Pair> Pair operator()(const Pair &a, const Pair &b) const
    {
        return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a;
    }
};

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS };
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

// What both do: a value of each thread in shared memory.
template <typename T, int threads> class InStorage {
public:
    struct TempStorage {
        T values[threads];
    };
    explicit InStorage(TempStorage &storage) : values(storage.values) {}

protected:
    T *values;
    int thread = int(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));

    template <int count, typename Op> static T combined(const T (&items)[count], Op op)
    {
        T all = items[0];
        for (int item = 1; item < count; ++item)
            all = op(all, items[item]);
        return all;
    }
};

template <typename T, int x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int y = 1, int z = 1, int = 0>
class BlockReduce : InStorage<T, x * y * z> {
    using Base = InStorage<T, x * y * z>;

public:
    using typename Base::TempStorage;
    explicit BlockReduce(TempStorage &storage) : Base(storage) {}

    // valid  so many threads have a value
    template <typename Op> T Reduce(T value, Op op, int valid = x * y * z)
    {
        this->values[this->thread] = value;
        __syncthreads();
        for (int other = 1; this->thread == 0 && other < valid; ++other)
            value = op(value, this->values[other]);
        return value;
    }
    template <int count, typename Op> T Reduce(T (&items)[count], Op op) { return Reduce(this->combined(items, op), op); }
    T Sum(T value, int valid = x * y * z) { return Reduce(value, ::cub::Sum(), valid); }
    template <int count> T Sum(T (&items)[count]) { return Reduce(items, ::cub::Sum()); }
};

template <typename T, int x, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int y = 1, int z = 1, int = 0>
class BlockScan : InStorage<T, x * y * z> {
    using Base = InStorage<T, x * y * z>;

    // What all threads before this one have, and of all of them the total. Thread 0 gets no value unless there is a first.
    template <typename Op> T before(T value, Op op, const T *first, T *total = nullptr)
    {
        this->values[this->thread] = value;
        __syncthreads();
        if (this->thread == 0) {
            T all = first ? op(*first, value) : value;
            for (int other = 1; other < x * y * z; ++other) {
                T next = op(all, this->values[other]);
                this->values[other] = all;
                all = next;
            }
            this->values[0] = all;
        }
        __syncthreads();
        if (total)
            *total = this->values[0];
        return this->thread ? this->values[this->thread] : first ? *first : value;
    }

    template <bool inclusive, int count, typename Op>
    void scan(T (&in)[count], T (&out)[count], Op op, const T *first, T *total = nullptr)
    {
        T all = before(this->combined(in, op), op, first, total);
        bool is_begun = first || this->thread;
        for (int item = 0; item < count; ++item) {
            T next = is_begun ? op(all, in[item]) : in[item];
            out[item] = inclusive ? next : all;
            all = next;
            is_begun = true;
        }
    }

    template <bool inclusive, typename Op> void scan(T in, T &out, Op op, const T *first, T *total = nullptr)
    {
        T all = before(in, op, first, total);
        out = !inclusive ? all : first || this->thread ? op(all, in) : in;
    }

public:
    using typename Base::TempStorage;
    explicit BlockScan(TempStorage &storage) : Base(storage) {}

    // In and Out are a T, or an array of some for each thread.
    template <typename In, typename Out> void ExclusiveSum(In &&in, Out &out)
    {
        T zero{};
        scan<false>(in, out, ::cub::Sum(), &zero);
    }
    template <typename In, typename Out> void ExclusiveSum(In &&in, Out &out, T &total)
    {
        T zero{};
        scan<false>(in, out, ::cub::Sum(), &zero, &total);
    }
    template <typename In, typename Out> void InclusiveSum(In &&in, Out &out) { scan<true>(in, out, ::cub::Sum(), nullptr); }
    template <typename In, typename Out> void InclusiveSum(In &&in, Out &out, T &total)
    {
        scan<true>(in, out, ::cub::Sum(), nullptr, &total);
    }
    template <typename In, typename Out, typename Op> void ExclusiveScan(In &&in, Out &out, T first, Op op)
    {
        scan<false>(in, out, op, &first);
    }
    template <typename In, typename Out, typename Op> void InclusiveScan(In &&in, Out &out, Op op)
    {
        scan<true>(in, out, op, nullptr);
    }
};

} // namespace cub
