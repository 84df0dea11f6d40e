// Lane 0 is not in the branch.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i > 4) v = simd_broadcast(v, 0);  // finds: shuffle-inactive
y[i] = v;
