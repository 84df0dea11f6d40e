// Pointers to volatile atomics, in structs and through helper functions.
// input: x = uint32[100] integers(0, 3)
// output: y = uint32[4]
// grid: 100
// threadgroup: 50
// init: 0
// expect: y = np.bincount(x, minlength=4)
// header:
struct Counters {
  atomic_uint bins[4];
};
void count(volatile device atomic_uint* bin) {
  atomic_fetch_add_explicit(bin, 1, memory_order_relaxed);
}
// body:
device Counters& counters = *reinterpret_cast<device Counters*>(y);
count(&counters.bins[x[thread_position_in_grid.x]]);
