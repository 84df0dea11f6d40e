// A pointer that walks on.
// input: x = float32[32, 8]
// output: y = float32[32]
// grid: 32
// threadgroup: 32
uint i = thread_position_in_grid.x;
const device float* p = x + i * 8;
float sum = 0;
for (int k = 0; k < 8; ++k) {
  sum += *p;
  ++p;
}
y[i] = sum;
