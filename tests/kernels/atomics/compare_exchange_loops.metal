// Products, which no atomic has, by compare and exchange; every thread succeeds once.
// dtypes: int32 uint32 float32
// input: x = T[60] np.resize([1, 1, 2, 1, 1, 1, 3, 1, 1, 1], 60)
// output: y = T[1]
// grid: 60
// threadgroup: 32
// init: 1
// atomic_outputs: true
// expect: y = [np.prod(x)]
T factor = x[thread_position_in_grid.x];
T seen = atomic_load_explicit(y, memory_order_relaxed);
while (!atomic_compare_exchange_weak_explicit(y, &seen, T(seen * factor), memory_order_relaxed,
                                              memory_order_relaxed)) {
}
