// A strided load inside loops inside a branch, with a break that no lane takes.
// input: x = float32[100] arange
// input: b = bool[32] random
// output: y = int32[32]
// grid: 32
// threadgroup: 32
// init: 0
// expect: y = np.where(b, 2 * tid, 0)
uint t = thread_position_in_grid.x;
uint zero = 0;
if (b[t]) {
  for (uint i = zero; i < 1; i += 32) {
    for (int j = 0; j < 2; j++) {
      y[t] = int(x[ushort(t * 2)]);
      if (1u > quad_product(1u)) break;
    }
  }
}
