#include <metal_stdlib>

// ROWS rows of the product of a row-major matrix and 32 * GROUPS columns: each lane has one column
// of each group. What is on the left is the same for all lanes.
template <uint ROWS, uint GROUPS, typename Result, typename Left, typename Right, typename Out>
inline void rows_times_columns(Left left, Right right, Out out, uint inner, uint columns,
                               thread const bool* mine) {
    float sums[ROWS][GROUPS] = {};
    for (uint k = 0; k < inner; ++k) {
        float right_side[GROUPS];
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) {
            right_side[g] = mine[g] ? float(right[ulong(k) * columns + 32 * g]) : 0.0f;
        }
        #pragma unroll
        for (uint r = 0; r < ROWS; ++r) {
            const float factor = left[ulong(r) * inner + k];
            #pragma unroll
            for (uint g = 0; g < GROUPS; ++g) {
                sums[r][g] = metal::fma(factor, right_side[g], sums[r][g]);
            }
        }
    }
    #pragma unroll
    for (uint r = 0; r < ROWS; ++r) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) {
            if (mine[g]) out[ulong(r) * columns + 32 * g] = Result(sums[r][g]);
        }
    }
}

// `count` rows of A and B join sums of Aᵀ B, in registers: each lane has one column of A in each
// group, and the COLUMNS columns of B from `first` on. ALL: no lane is beyond A.
template <uint GROUPS, uint COLUMNS, bool ALL, typename Left, typename Right, typename Sums>
inline void add_columns(Left left, Right right, uint left_columns, uint right_columns, uint count,
                        uint first, thread const bool* mine, thread Sums& sums) {
    float now[COLUMNS][GROUPS];
    #pragma unroll
    for (uint j = 0; j < COLUMNS; ++j) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) now[j][g] = sums[first + j][g];
    }
    #pragma unroll 1
    for (uint k = 0; k < count; ++k) {
        float left_side[GROUPS];
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) {
            left_side[g] = ALL || mine[g] ? float(left[32 * g]) : 0.0f;
        }
        #pragma unroll
        for (uint j = 0; j < COLUMNS; ++j) {
            const float factor = right[first + j];
            #pragma unroll
            for (uint g = 0; g < GROUPS; ++g) {
                now[j][g] = metal::fma(factor, left_side[g], now[j][g]);
            }
        }
        left += left_columns;
        right += right_columns;
    }
    #pragma unroll
    for (uint j = 0; j < COLUMNS; ++j) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) sums[first + j][g] = now[j][g];
    }
}

// The same for `used` columns of B: 8 sums of a lane at a time.
template <uint GROUPS, bool ALL, typename Left, typename Right, typename Sums>
inline void add_block(Left left, Right right, uint left_columns, uint right_columns, uint count,
                      uint used, thread const bool* mine, thread Sums& sums) {
    constexpr uint COLUMNS = GROUPS < 8 ? 8 / GROUPS : 1;
    uint j = 0;
    for (; j + COLUMNS <= used; j += COLUMNS) {
        add_columns<GROUPS, COLUMNS, ALL>(
            left, right, left_columns, right_columns, count, j, mine, sums
        );
    }
    for (; j < used; ++j) {
        add_columns<GROUPS, 1, ALL>(left, right, left_columns, right_columns, count, j, mine, sums);
    }
}
