// What the next threadgroup writes is read here.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 32
// init: 0
uint i = thread_position_in_grid.x;
float next = i < 127 ? y[i + 1] : 0;  // finds: race-groups (either), race-device (either)
y[i] = x[i] + next;  // finds: race-groups (either), race-device (either)
