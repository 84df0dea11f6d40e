// All active lanes update by one value: what they add up to follows from how many they are.
// input: x = uint32[1] integers(1, 1000)
// input: n = int32[1] integers(-99, -1)
// input: f = float32[1] integers(1, 100)
// output: y = uint32[6]
// output: z = int32[4]
// output: w = float32[2]
// grid: 203
// threadgroup: 64
// init: 0
// atomic_outputs: true
// where:
//     k = tid % 3 == 1
//     few = tid % 32 == 0
// expect: y = [x[0] * k.sum(), -x[0] * few.sum(), x[0], x[0] * (k.sum() % 2), 0, x[0] * 203]
// expect: z = [n[0] * k.sum(), 0, n[0], n[0] * few.sum()]
// expect: w = [f[0] * k.sum(), -f[0] * few.sum()]
uint i = thread_position_in_grid.x;
if (i % 3 == 1) {
  atomic_fetch_add_explicit(&y[0], x[0], memory_order_relaxed);
  atomic_fetch_xor_explicit(&y[3], x[0], memory_order_relaxed);
  atomic_fetch_add_explicit(&z[0], n[0], memory_order_relaxed);
  atomic_fetch_max_explicit(&z[1], n[0], memory_order_relaxed);
  atomic_fetch_add_explicit(&w[0], f[0], memory_order_relaxed);
}
if (thread_index_in_simdgroup == 0) {
  atomic_fetch_sub_explicit(&y[1], x[0], memory_order_relaxed);
  atomic_fetch_add_explicit(&z[3], n[0], memory_order_relaxed);
  atomic_fetch_sub_explicit(&w[1], f[0], memory_order_relaxed);
}
atomic_fetch_or_explicit(&y[2], x[0], memory_order_relaxed);
atomic_fetch_and_explicit(&y[4], x[0], memory_order_relaxed);
atomic_fetch_add_explicit(&y[5], x[0], memory_order_relaxed);
atomic_fetch_min_explicit(&z[2], n[0], memory_order_relaxed);
