// A switch without a default.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
float scale;
switch (i % 4) {
  case 0: scale = 1; break;
  case 1: scale = 2; break;
  case 2: scale = 4; break;
}
y[i] = scale * x[i];  // finds: undefined-output
