// The same function by every name that a kernel can give it.
// input: x = float32[33] uniform(0, 4)
// output: y = float32[33, 6]
// grid: 33
// threadgroup: 32
// expect: y = np.repeat(np.sqrt(x), 6)
// close: 1e-6
using namespace metal;
float v = x[thread_position_in_grid.x];
device float* row = y + 6 * thread_position_in_grid.x;
row[0] = sqrt(v);
row[1] = metal::sqrt(v);
row[2] = ::metal::precise::sqrt(v);
row[3] = precise::sqrt(v);
row[4] = fast::sqrt(v);
row[5] = metal::fast::sqrt(v);
