// Loops that begin at a thread's place, as many iterations for each: tiles go through threadgroup
// memory and come out transposed.
// input: x = float32[64, 96]
// output: y = float32[96, 64]
// output: z = float32[4, 128]
// grid: 96 16
// threadgroup: 32 8
// expect: y = x.T
// expect: z = np.repeat(x[:2].reshape(-1)[:128][None], 4, 0) * np.arange(1, 5)[:, None]
threadgroup float tile[32][33];
uint2 t = thread_position_in_threadgroup.xy, g = threadgroup_position_in_grid.xy * 32;
for (uint j = t.y; j < 32; j += 8) tile[j][t.x] = x[(g.y + j) * 96 + g.x + t.x];
threadgroup_barrier(mem_flags::mem_threadgroup);
for (uint j = t.y; j < 32; j += 8) y[(g.x + j) * 64 + g.y + t.x] = tile[t.x][j];
uint group = simdgroup_index_in_threadgroup;
if (group < 4 && g.x == 0 && g.y == 0)
  for (uint k = thread_index_in_simdgroup; k < 128; k += 32) z[group * 128 + k] = x[k] * (group + 1);
