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

// STEP rows of A and B join the sums of Aᵀ B: each lane has one column of A in each group, and all
// of `used` columns of B.
template <uint GROUPS, uint STEP, typename Left, typename Right, typename Sums>
inline void add_outer_products(Left left, Right right, uint left_columns, uint right_columns,
                               uint used, thread const bool* mine, thread Sums& sums) {
    float left_side[GROUPS][STEP];
    #pragma unroll
    for (uint s = 0; s < STEP; ++s) {
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) {
            left_side[g][s] = mine[g] ? float(left[ulong(s) * left_columns + 32 * g]) : 0.0f;
        }
    }
    #pragma unroll 1
    for (uint j = 0; j < used; ++j) {
        float now[GROUPS];
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) now[g] = sums[g][j];
        #pragma unroll
        for (uint s = 0; s < STEP; ++s) {
            const float factor = right[ulong(s) * right_columns + j];
            #pragma unroll
            for (uint g = 0; g < GROUPS; ++g) {
                now[g] = metal::fma(factor, left_side[g][s], now[g]);
            }
        }
        #pragma unroll
        for (uint g = 0; g < GROUPS; ++g) sums[g][j] = now[g];
    }
}
