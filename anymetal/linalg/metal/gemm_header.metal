#include <metal_stdlib>

// `count` rows of a matrix become rows of `block`, as float: each lane has one column in each group;
// where that is not `mine`, zeros.
template <uint GROUPS, typename From, typename Block>
inline void load_block(From from, uint columns, uint count, thread const bool* mine,
                       thread Block& block) {
    for (uint k = 0; k < count; ++k) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) {
            block[k][g] = mine[g] ? float(from[ulong(k) * columns + 32 * g]) : 0.0f;
        }
    }
}

// AT_ONCE sums of each lane, from `first` on, get `count` more products, in registers: of a column of
// `block`, and of factors that are the same for all lanes and lie `step` apart from row to row of
// it, those of two sums `apart`.
template <uint GROUPS, uint AT_ONCE, typename Block, typename Factors, typename Sums>
inline void add_some(thread const Block& block, Factors factors, uint apart, uint step, uint count,
                     uint first, thread Sums& sums) {
    float now[AT_ONCE][GROUPS];
    #pragma unroll
    for (uint i = 0; i < AT_ONCE; ++i) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) now[i][g] = sums[first + i][g];
    }
    factors += ulong(first) * apart;
    #pragma unroll 1
    for (uint k = 0; k < count; ++k) {
        #pragma unroll
        for (uint i = 0; i < AT_ONCE; ++i) {
            const float factor = factors[ulong(i) * apart];
            #pragma unroll
            for (uint g = 0; g < GROUPS; ++g) now[i][g] = metal::fma(factor, block[k][g], now[i][g]);
        }
        factors += step;
    }
    #pragma unroll
    for (uint i = 0; i < AT_ONCE; ++i) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) sums[first + i][g] = now[i][g];
    }
}

// The same for `used` sums: as many of a lane at a time as make SUMS in all groups.
template <uint GROUPS, uint SUMS, typename Block, typename Factors, typename Sums>
inline void add_block(thread const Block& block, Factors factors, uint apart, uint step, uint count,
                      uint used, thread Sums& sums) {
    constexpr uint AT_ONCE = GROUPS < SUMS ? SUMS / GROUPS : 1;
    uint i = 0;
    for (; i + AT_ONCE <= used; i += AT_ONCE) {
        add_some<GROUPS, AT_ONCE>(block, factors, apart, step, count, i, sums);
    }
    for (; i < used; ++i) add_some<GROUPS, 1>(block, factors, apart, step, count, i, sums);
}
