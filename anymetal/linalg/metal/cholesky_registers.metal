// A matrix of 32 rows per SIMD-group, all in registers: a lane has a column of U.
threadgroup float u[32][32];  // of a matrix that is scaled
const uint lane = thread_index_in_simdgroup;
const uint matrix = threadgroup_position_in_grid.y;
auto from = a + ulong(matrix) * 1024;
device float* to = out + ulong(matrix) * 1024;

float x[32];
load_triangle(x, from, 32, 0, lane, UPPER);
const int exponent = SCALED ? diagonal_exponent(diagonal_of(x, lane)) : 0;
if (metal::simd_any(exponent != 0)) {  // hardly ever, so let it be short
    store_rows(x, &u[0][lane]);
    #pragma clang loop unroll(disable)
    for (uint r = 0; r < 32; ++r) {
        u[r][lane] = scaled(u[r][lane], exponent + metal::simd_shuffle(exponent, r));
    }
    load_rows(x, &u[0][lane]);
}
factor_rows(x, 0, lane, BOUNDS);
const bool failed = metal::isnan(metal::simd_shuffle(x[31], 31));
#ifdef CHECKED
const uint bad = uint(ulong(metal::simd_ballot(metal::isnan(diagonal_of(x, lane)))));
if (lane == 0) info[matrix] = failed ? metal::ctz(bad) + 1 : 0;
#endif
store_triangle(x, to, power_of_two(-exponent), 32, 0, lane, failed);
