// A 64-bit atomic cannot be read in the kernel that updates it.
// output: y = uint64[1]
// grid: 4
// error: deleted function 'atomic_load_explicit' at 5:11
ulong v = atomic_load_explicit((const device atomic_ulong*)y, memory_order_relaxed);
y[0] = v;
