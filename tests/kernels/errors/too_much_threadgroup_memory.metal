// 32 KiB is all there is.
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// error: KernelLoadError: Threadgroup memory size \(327[78]\d\) exceeds the maximum threadgroup memory allowed \(32768\)
threadgroup int slots[8193];
uint i = thread_position_in_grid.x;
slots[i] = i;
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = slots[31 - i];
