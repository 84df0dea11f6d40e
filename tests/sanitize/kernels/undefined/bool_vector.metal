// any() of a bool4 of which a component is not set.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
bool4 b;
b.x = false;
b.y = false;
b.z = x[i] > 100;
if (any(b)) {  // finds: undefined-branch
  y[i] = x[(i * 7) % 64];
  y[i] *= x[(i * 5) % 64];
} else {
  y[i] = x[i];
}
