// A block with a border, in three dimensions, with odd sizes.
// input: x = float32[5,6,7] integers(-9, 9)
// output: y = float32[5,6,7]
// grid: 7 6 5
// threadgroup: 7 6 5
// where:
//     p = np.pad(x, 1)
//     near = (p[:-2, 1:-1, 1:-1] + p[2:, 1:-1, 1:-1] + p[1:-1, :-2, 1:-1] + p[1:-1, 2:, 1:-1]
//             + p[1:-1, 1:-1, :-2] + p[1:-1, 1:-1, 2:])
// expect: y = near - 6 * x
threadgroup float block[7][8][9];
const uint3 p = thread_position_in_threadgroup;
const uint l = thread_index_in_threadgroup, t = (p.z * 6 + p.y) * 7 + p.x;
threadgroup float* flat = &block[0][0][0];
for (uint i = l; i < 7 * 8 * 9; i += 210) flat[i] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
block[p.z + 1][p.y + 1][p.x + 1] = x[t];
threadgroup_barrier(mem_flags::mem_threadgroup);
const uint i = p.x + 1, j = p.y + 1, k = p.z + 1;
y[t] = block[k - 1][j][i] + block[k + 1][j][i] + block[k][j - 1][i] + block[k][j + 1][i] +
       block[k][j][i - 1] + block[k][j][i + 1] - 6 * block[k][j][i];
