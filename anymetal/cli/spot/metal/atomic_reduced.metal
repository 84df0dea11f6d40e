// A SIMD-group adds up its numbers, then one of its threads adds them to one of 16 sums.
uint i = thread_position_in_grid.x;
float sum = simd_sum(x[i]);
if (thread_index_in_simdgroup == 0) {
    atomic_fetch_add_explicit(&out[(i / 32) % 16], sum, memory_order_relaxed);
}
