// There is at least one group.
// input: groups = uint32 0
// output: y = uint32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = i % max(groups, 1u);
