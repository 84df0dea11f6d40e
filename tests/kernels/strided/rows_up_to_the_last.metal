// Eight rows of four elements at a time, of as many rows as there are: which row a lane begins with
// is known from its number.
// input: x = float32[512, 40] normal
// output: y = float32[320]
// grid: 320
// threadgroup: 32
// expect: y = x.reshape(64, 8, 10, 4).sum(0).transpose(1, 0, 2).reshape(-1)
// close: 1e-4
uint lane = thread_index_in_simdgroup, group = threadgroup_position_in_grid.x;
float sum = 0;
for (uint k = lane / 4; k < x_shape[0]; k += 8) sum += x[k * 40 + group * 4 + lane % 4];
y[group * 32 + lane] = sum;
