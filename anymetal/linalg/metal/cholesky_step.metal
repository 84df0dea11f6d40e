// A step of 64 rows, in one launch for all of the matrix, a threadgroup per tile of 32 × 32: tiles of
// the step's rows become those of U, what is left below gets its update, and rows that are done are
// handed on. Every threadgroup factors the tiles on the diagonal for itself, and solves for those
// that it needs: so nobody has to wait for others.
// The FIRST step reads the matrix, the LAST one writes the factor as the caller has it.
// Nobody needs the strips beyond the diagonal, and they stay unwritten:
// anymetal: ignore-kernel[unwritten-output(rest)]

// Tiles of U, of both rows of tiles: on the diagonal, in strip s, in strip r; then that of the first
// row which is above the second one's diagonal.
threadgroup float tiles[7][32][32];

const uint k = 2 * at[0];
const uint lane = thread_index_in_simdgroup, part = simdgroup_index_in_threadgroup;
const uint s = threadgroup_position_in_grid.x, r = threadgroup_position_in_grid.y;
const uint first = 32 * r + 8 * part, column = 32 * s + lane;  // of what this thread writes
const ulong matrix = threadgroup_position_in_grid.z;
#if FIRST || LAST
const uint n = a_shape[a_ndim - 1], height = (n + 31) / 32 * 32;
auto matrix_a = a + matrix * n * n;
#else
const uint height = strips_shape[2];
#endif
#if FIRST
const uint size = n;
auto from = matrix_a;
#else
const uint size = height;
auto from = strips + matrix * height * height;
#endif
#if LAST
device float* to = out + matrix * n * n;
#else
device float* to = rest + matrix * height * height + (s * height + first) * 32 + lane;
#endif

float x[8], y[8];
if (r > s) {
    #if LAST
    store_triangle(x, to, 1, n, first, column, false);  // zeros
    #endif
    return;
}
#if !LAST
if (r < k) {
    load_rows(x, from + (s * height + first) * 32 + lane);
    store_rows(x, to);
    return;
}
#endif

// All that comes from memory is asked for at once: what becomes of this tile, and tiles to factor or
// to solve for, one of each row for each SIMD-group; the last has that beside the diagonal, if any.
const uint rows = metal::min(2u, height / 32 - k);
const bool is_apart = r < k || r >= k + rows;  // not of this step's rows
if (is_apart) {
    load_strip(x, from, size, first, s, lane);
}
#pragma clang loop unroll(disable)
for (uint row = 0; row < rows; ++row) {
    const uint strip = strip_of(part, k, row, s, r);
    if (has_tile(part, strip, k, row, rows)) {
        #pragma clang loop unroll_count(FIRST ? 1 : 4)
        for (uint i = 0; i < 32; i += 8) {
            load_strip(y, from, size, 32 * (k + row) + i, strip, lane);
            store_rows(y, &tiles[tile_of(part, row)][i][lane]);
        }
    }
}

#pragma clang loop unroll(disable)
for (uint row = 0; row < rows; ++row) {
    const uint strip = strip_of(part, k, row, s, r), tile = tile_of(part, row);
    threadgroup float* mine = &tiles[tile][0][lane];
    const bool is_there = has_tile(part, strip, k, row, rows);
    if (row == 1 && is_there) {
        const threadgroup float* above = &tiles[part == 0 ? BESIDE : part][0][lane];
        #pragma clang loop unroll(disable)
        for (uint i = 0; i < 32; i += 8) {
            load_rows(y, mine + 32 * i);
            subtract_products(y, &tiles[BESIDE][0][i], above, 32);
            store_rows(y, mine + 32 * i);
        }
    }
    if (part == 0) {
        factor_tile(mine, &tiles[tile][0][0], lane, BOUNDS);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (is_there && strip > k + row) {
        solve_tile(mine, &tiles[3 * row][0][0]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

if (!is_apart) {
    load_rows(x, &tiles[3 * (r - k) + (s > r ? 1 : 0)][8 * part][lane]);
}
#if LAST
const uint end = (n - 1) % 32;
const bool failed = metal::isnan(tiles[3 * (rows - 1)][end][end]);
const float scale = power_of_two(-exponent_of(matrix_a, n, column));
store_triangle(x, to, scale, n, first, column, failed);
#else
if (r >= k + rows) {
    #pragma clang loop unroll(disable)
    for (uint row = 0; row < 2; ++row) {
        subtract_products(x, &tiles[3 * row + 2][0][8 * part], &tiles[3 * row + 1][0][lane], 32);
    }
}
store_rows(x, to);
#endif
#ifdef CHECKED
if (s == 0 && r == 0 && part == 0) {
    uint pivot = 0;
    while (failed && pivot < n - 1) {
        const uint t = pivot / 32, i = pivot % 32;
        if (metal::isnan(t < k ? from[(t * height + pivot) * 32 + i] : tiles[3 * (t - k)][i][i])) {
            break;
        }
        ++pivot;
    }
    if (lane == 0) info[matrix] = failed ? pivot + 1 : 0;
}
#endif
