// Flags are no numbers.
// output: y = float32[4]
// grid: 4
// error: threadgroup_barrier|mem_flags at 5
threadgroup_barrier(2);
