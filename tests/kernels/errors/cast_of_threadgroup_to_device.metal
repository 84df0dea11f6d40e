// An address in threadgroup memory does not become one in device memory.
// output: y = float32[4]
// grid: 4
// error: 'slots' is in threadgroup memory: its address cannot be cast to the device address space at 6:34
threadgroup float slots[32];
device float* p = (device float*)slots;
y[thread_position_in_grid.x] = *p;
