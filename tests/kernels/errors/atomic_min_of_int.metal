// atomic_min_explicit, without a result, exists for ulong; for int it is atomic_fetch_min_explicit.
// output: y = int32[1]
// grid: 4
// atomic_outputs: true
// error: no (matching|viable)|cannot initialize|no known conversion
atomic_min_explicit(y, 1, memory_order_relaxed);
