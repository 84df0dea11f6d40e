// A helper function that stores for its caller.
// input: x = float32[64]
// output: y = float32[64]
// grid: 64
// threadgroup: 32
// init: 0
// header:
void put(device float* to, uint at, float v) {
  to[at] = v;  // finds: bounds-write
}
// body:
uint i = thread_position_in_grid.x;
put(y, i + 32, x[i]);
