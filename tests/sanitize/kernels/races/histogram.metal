// Threads of all threadgroups count in device memory.
// input: x = uint32[256] integers(0, 7)
// output: y = uint32[8]
// grid: 256
// threadgroup: 64
// init: 0
uint i = thread_position_in_grid.x;
y[x[i]] += 1;  // finds: race-groups, race-device
