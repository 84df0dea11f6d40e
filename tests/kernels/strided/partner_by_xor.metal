// Elements at an index whose bits are turned: other lanes of the SIMD-group, other SIMD-groups, both;
// and with bits that are set.
// input: x = int32[5, 256] integers
// output: y = int32[5, 256]
// output: z = int32[5, 256]
// grid: 256 5
// threadgroup: 256
// where: i = np.arange(256)
// expect: y = x[:, i ^ 5] + 3 * x[:, i ^ 64] + 5 * x[:, i ^ 255] + 7 * x[:, (i * 2 & 255) ^ 42]
// expect: z = x[:, i | 9] + 3 * x[:, i | 96]
uint i = thread_position_in_threadgroup.x, row = thread_position_in_grid.y * 256;
threadgroup int v[256];
v[i] = x[row + i];
threadgroup_barrier(mem_flags::mem_threadgroup);
int long_way = x[row + (i ^ 255)];
y[row + i] = v[i ^ 5] + 3 * v[i ^ 64] + 5 * long_way + 7 * v[(i * 2 & 255) ^ 42];
z[row + (i ^ 31)] = v[(i ^ 31) | 9] + 3 * v[(i ^ 31) | 96];
