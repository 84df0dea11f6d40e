// The functions that kernels use most, in float.
// input: x = float32[200] uniform(0.1, 4)
// output: y = float32[200, 9]
// grid: 200
// threadgroup: 64
// where:
//     d = x.astype(np.float64)
// expect: y = np.stack([np.exp(d), np.log(d), np.sin(d), np.cos(d), np.tanh(d), np.sqrt(d), 1 / np.sqrt(d), d ** 1.7, np.exp2(d)], axis=1)
// close: 2e-6
uint t = thread_position_in_grid.x;
float v = x[t];
device float* row = y + 9 * t;
row[0] = exp(v);
row[1] = log(v);
row[2] = sin(v);
row[3] = cos(v);
row[4] = tanh(v);
row[5] = sqrt(v);
row[6] = rsqrt(v);
row[7] = pow(v, 1.7f);
row[8] = exp2(v);
