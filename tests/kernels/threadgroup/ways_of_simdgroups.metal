// SIMD-groups of a threadgroup go different ways between barriers: branches, loops of different
// lengths, private arrays that only some of them change.
// input: x = float32[4, 256] normal
// output: y = float32[4, 256]
// output: z = int32[4, 256]
// grid: 256 4
// threadgroup: 256
// where:
//     sums = x.reshape(4, 8, 32).sum(2, dtype=np.float32)
//     before = np.stack([np.cumsum(np.concatenate([[0], s[:-1]])) for s in sums])
//     g = np.arange(256) // 32
//     shift = np.where(g % 3 == 0, 10, np.where(g % 3 == 1, g, -g))
// expect: y = x + np.repeat(before, 32, 1)
// expect: z = np.tile(shift * 2 + np.arange(256) % 7 + (g >= 4) * 100, (4, 1))
// close: 1e-4 1e-4
threadgroup float partial[8];
uint t = thread_position_in_threadgroup.x, group = simdgroup_index_in_threadgroup;
uint i = threadgroup_position_in_grid.y * 256 + t;
float sum = simd_sum(x[i]);
if (thread_index_in_simdgroup == 0) partial[group] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
float before = 0;
for (uint g = 0; g < group; ++g) before += partial[g];
y[i] = x[i] + before;
int shift = 10;
if (group % 3 == 1) {
    shift = group;
} else if (group % 3 == 2) {
    shift = -int(group);
}
threadgroup_barrier(mem_flags::mem_threadgroup);
int kept[7];
for (int k = 0; k < 7; ++k) kept[k] = k;
if (group >= 4) {
    for (int k = 0; k < 7; ++k) kept[k] += 100;
}
z[i] = shift * 2 + kept[t % 7];
