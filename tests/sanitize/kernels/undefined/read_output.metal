// An output is read before anybody has written it.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] += x[i];  // finds: undefined-output
