// Every operation returns what was there before: each thread draws another number.
// dtypes: int32 uint32
// input: x = T[96] np.ones(96)
// output: y = T[1]
// output: z = T[96]
// grid: 96
// threadgroup: 32
// init: 0
// atomic_outputs: true
// expect: y = [96]
// expect: z = np.ones(96, dtype)
T ticket = atomic_fetch_add_explicit(&y[0], x[0], memory_order_relaxed);
atomic_fetch_add_explicit(&z[ticket], T(1), memory_order_relaxed);
