// A function sets its result only if it finds something.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
// header:
bool find(const device float* x, uint i, thread float& result) {
  for (uint k = i; k < min(i + 4, 64u); ++k) {
    if (x[k] > 0.5f) {
      result = x[k];
      return true;
    }
  }
  return false;
}
// body:
uint i = thread_position_in_grid.x;
float found;
find(x, i, found);
y[i] = found;  // finds: undefined-output
