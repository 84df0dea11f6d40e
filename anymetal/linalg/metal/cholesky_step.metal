// A step of 64 rows, in one launch for all of the matrix, a threadgroup per tile of 32 × 32: tiles of
// the step's rows become those of U, what is left below gets its update, and rows that are done are
// handed on. Every threadgroup factors the tiles on the diagonal for itself, and solves for those
// that it needs: so nobody has to wait for others.
// Nobody needs the strips beyond the diagonal, and they stay unwritten:
// anymetal: ignore-kernel[unwritten-output(rest)]

// Tiles of U, of both rows of tiles: on the diagonal, in strip s, in strip r; then that of the first
// row which is above the second one's diagonal.
threadgroup float tiles[7][32][32];
constexpr uint BESIDE = 6;

const uint height = strips_shape[2], k = 2 * at[0];
const uint lane = thread_index_in_simdgroup, part = simdgroup_index_in_threadgroup;
const uint s = threadgroup_position_in_grid.x, r = threadgroup_position_in_grid.y;
if (r > s) {
    return;
}
const ulong matrix = ulong(threadgroup_position_in_grid.z) * height * height;
const device float* from = strips + matrix + lane;
device float* to = rest + matrix + (s * height + 32 * r + 8 * part) * 32 + lane;
float x[8];
if (r < k) {
    load_rows(x, from + (s * height + 32 * r + 8 * part) * 32);
    store_rows(x, to);
    return;
}

const uint rows = metal::min(2u, height / 32 - k);
#pragma clang loop unroll(disable)
for (uint row = 0; row < rows; ++row) {
    // A tile for each SIMD-group; the last has that beside the diagonal, if there is one.
    const uint strip = part == 0 ? k + row : part == 1 ? s : part == 2 ? r : k + 1;
    const uint tile = part < 3 ? 3 * row + part : BESIDE;
    const bool is_there = part < 3 || row + 1 < rows;
    threadgroup float* mine = &tiles[tile][0][lane];
    if (is_there) {
        const threadgroup float* above = &tiles[part == 0 ? BESIDE : part][0][lane];
        #pragma clang loop unroll(disable)
        for (uint first = 0; first < 32; first += 8) {
            load_rows(x, from + (strip * height + 32 * (k + row) + first) * 32);
            subtract_products(x, &tiles[BESIDE][0][first], above, 32 * row);
            store_rows(x, mine + 32 * first);
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
    if (r == k + row) {
        load_rows(x, &tiles[3 * row + (s > r ? 1 : 0)][8 * part][lane]);
        store_rows(x, to);
        return;
    }
}
load_rows(x, from + (s * height + 32 * r + 8 * part) * 32);
#pragma clang loop unroll(disable)
for (uint row = 0; row < 2; ++row) {
    subtract_products(x, &tiles[3 * row + 2][0][8 * part], &tiles[3 * row + 1][0][lane], 32);
}
store_rows(x, to);
