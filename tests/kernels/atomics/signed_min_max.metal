// Negative numbers are smaller for int and larger for uint.
// dtypes: int32 uint32
// input: x = int32[50] integers(-1000, 1000)
// output: y = T[2]
// grid: 50
// threadgroup: 32
// init: 0
// atomic_outputs: true
// expect: y = [min(0, x.astype(dtype).min()), x.astype(dtype).max()]
uint i = thread_position_in_grid.x;
atomic_fetch_min_explicit(&y[0], T(x[i]), memory_order_relaxed);
atomic_fetch_max_explicit(&y[1], T(x[i]), memory_order_relaxed);
