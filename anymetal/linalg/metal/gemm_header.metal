#include <metal_stdlib>

// `count` elements of ROWS rows of A from `first` on, and as many rows of V that lie in `block`, join
// sums of A V, in registers: each lane has one column of V in each group. What is on the left is the
// same for all lanes.
template <uint GROUPS, uint ROWS, typename Block, typename Left, typename Sums>
inline void add_rows(thread const Block& block, Left left, uint inner, uint count, uint first,
                     thread Sums& sums) {
    float now[ROWS][GROUPS];
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) now[r][g] = sums[first + r][g];
    }
    left += ulong(first) * inner;
    #pragma unroll 1
    for (uint k = 0; k < count; ++k) {
        #pragma unroll
        for (uint r = 0; r < ROWS; ++r) {
            const float factor = left[ulong(r) * inner + k];
            #pragma unroll
            for (uint g = 0; g < GROUPS; ++g) now[r][g] = metal::fma(factor, block[k][g], now[r][g]);
        }
    }
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) sums[first + r][g] = now[r][g];
    }
}

// `count` rows of B, and as many of A that lie in `block`, join sums of Aᵀ B, in registers: each lane
// has one column of A in each group, and the COLUMNS columns of B from `first` on.
template <uint GROUPS, uint COLUMNS, typename Block, typename Right, typename Sums>
inline void add_columns(thread const Block& block, Right right, uint right_columns, uint count,
                        uint first, thread Sums& sums) {
    float now[COLUMNS][GROUPS];
    #pragma unroll
    for (uint j = 0; j < COLUMNS; ++j) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) now[j][g] = sums[first + j][g];
    }
    #pragma unroll 1
    for (uint k = 0; k < count; ++k) {
        #pragma unroll
        for (uint j = 0; j < COLUMNS; ++j) {
            const float factor = right[first + j];
            #pragma unroll
            for (uint g = 0; g < GROUPS; ++g) now[j][g] = metal::fma(factor, block[k][g], now[j][g]);
        }
        right += right_columns;
    }
    #pragma unroll
    for (uint j = 0; j < COLUMNS; ++j) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) sums[first + j][g] = now[j][g];
    }
}

// The same for `used` columns of B: SUMS sums of a lane at a time.
template <uint GROUPS, uint SUMS, typename Block, typename Right, typename Sums>
inline void add_block(thread const Block& block, Right right, uint right_columns, uint count,
                      uint used, thread Sums& sums) {
    constexpr uint COLUMNS = GROUPS < SUMS ? SUMS / GROUPS : 1;
    uint j = 0;
    for (; j + COLUMNS <= used; j += COLUMNS) {
        add_columns<GROUPS, COLUMNS>(block, right, right_columns, count, j, sums);
    }
    for (; j < used; ++j) add_columns<GROUPS, 1>(block, right, right_columns, count, j, sums);
}
