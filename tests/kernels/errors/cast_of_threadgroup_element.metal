// Nor does the address of an element, with the C++ cast.
// output: y = float32[4]
// grid: 4
// error: 'slots' is in threadgroup memory: its address cannot be cast to the thread address space at 6:48
threadgroup float slots[32];
thread int* p = reinterpret_cast<thread int*>(&slots[3]);
y[thread_position_in_grid.x] = *p;
