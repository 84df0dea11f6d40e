// Lanes that are not there give 0, also where all that lanes get is added up. The last SIMD-group has three threads.
// input: x = int32[96] integers(1, 100)
// output: y = int32[2]
// grid: 67
// threadgroup: 32
// init: 0
// atomic_outputs: true
// expect: y = [x[:66].sum(), 64 * 7]
uint i = thread_position_in_grid.x;
atomic_fetch_add_explicit(&y[0], simd_shuffle_xor(x[i], ushort(1)), memory_order_relaxed);
atomic_fetch_add_explicit(&y[1], simd_shuffle(7, ushort(5)), memory_order_relaxed);
