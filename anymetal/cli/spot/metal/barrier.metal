// What SCOPED_BARRIER stands for costs what it costs. Threads look at a number of another
// SIMD-group, old or new; no number is ever above 2, so it changes nothing, with or without a
// barrier. That is what no compiler knows.
threadgroup float numbers[256];
uint own = thread_index_in_threadgroup, other = own ^ 32;
numbers[own] = x[thread_position_in_grid.x];
threadgroup_barrier(mem_flags::mem_threadgroup);  // what was in this memory before may be anything
for (int step = 0; step < 64; ++step) {
    SCOPED_BARRIER;
    float above = numbers[other] - 4.0f;
    numbers[own] = max(0.5f * numbers[own] + 1.0f, above);
}
out[thread_position_in_grid.x] = numbers[own];
