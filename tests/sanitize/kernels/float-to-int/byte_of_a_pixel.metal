// 256 is no uchar.
// input: x = float32[64] np.linspace(0, 1, 64)
// output: y = uint8[64]
// grid: 64
// threadgroup: 64
uint i = thread_position_in_grid.x;
y[i] = uchar(x[i] * 256);  // finds: float-to-int
