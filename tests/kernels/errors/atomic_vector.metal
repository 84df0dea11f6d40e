// A vector is no atomic type.
// output: y = float32[4]
// grid: 4
// error: Metal has atomic<T> for at 5:28
device atomic<float4>* p = (device atomic<float4>*)y;
atomic_store_explicit(p, float4(1), memory_order_relaxed);
