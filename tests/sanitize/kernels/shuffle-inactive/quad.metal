// One lane of each quad is alone.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i % 4 == 0) v += quad_shuffle_down(v, 1);  // finds: shuffle-inactive
y[i] = v;
