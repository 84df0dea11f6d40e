// The value and the filling come from the same lane, which is not active.
// input: x = float32[32] normal
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
float v = x[i];
if (i < 30) v = simd_shuffle_and_fill_down(v, 1.0f, 4);  // finds: shuffle-inactive
y[i] = v;
