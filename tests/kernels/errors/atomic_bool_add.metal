// bool knows load, store and exchange.
// output: y = bool[4]
// grid: 4
// error: atomic_fetch_add_explicit at 5:1
atomic_fetch_add_explicit((device atomic_bool*)y, true, memory_order_relaxed);
