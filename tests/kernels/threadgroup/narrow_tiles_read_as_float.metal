// Tiles of narrow numbers, copied by words and by threes, cleared at the end, and read as float.
// dtypes: float16 bfloat16
// input: x = T[512] random
// output: y = float32[256]
// output: z = float32[256]
// grid: 256
// threadgroup: 64
// where:
//     r = x.astype(np.float32).reshape(4, 128)
//     ends = np.pad(r, ((0, 0), (0, 8)))
//     at = np.arange(64)
// expect: y = ends[:, 2 * at] + 2 * ends[:, 127 - at] + ends[:, 2 * at + 9]
// expect: z = r[:, 3 * (at % 42)] - r[:, 3 * (at % 42) + 2]
struct Words { uchar bytes[4]; };
threadgroup T tile[136], threes[128];
uint lid = thread_index_in_threadgroup, base = threadgroup_position_in_grid.x * 128;
*(threadgroup Words*)(tile + 2 * lid) = *(const device Words*)(x + base + 2 * lid);
if (lid < 8) tile[128 + lid] = T(0);
for (uint i = lid; i < 42; i += 64) {
  for (uint k = 0; k < 3; ++k) threes[3 * i + k] = x[base + 3 * i + k];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = float(tile[2 * lid]);
simdgroup_barrier(mem_flags::mem_none);
sum = fma(2.0f, float(tile[127 - lid]), sum);
uint g = threadgroup_position_in_grid.x * 64 + lid;
y[g] = sum + float(tile[2 * lid + 9]);
threadgroup const T* p = threes + 3 * (lid % 42);
z[g] = float(p[0]) - float(p[2]);
