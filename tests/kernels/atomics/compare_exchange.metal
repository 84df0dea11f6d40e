// The largest float by compare-and-exchange on its bits; every lane loops until it succeeds.
// input: x = float32[200] uniform(0, 100)
// output: y = uint32[1]
// grid: 200
// threadgroup: 64
// init: 0
// atomic_outputs: true
// expect: y = x.max().view(np.uint32)
float v = x[thread_position_in_grid.x];
uint seen = atomic_load_explicit(y, memory_order_relaxed);
while (as_type<float>(seen) < v) {
  if (atomic_compare_exchange_weak_explicit(y, &seen, as_type<uint>(v), memory_order_relaxed,
                                            memory_order_relaxed))
    break;
}
