// Right matrices of one product that lie side by side, apart, over each other, and in rows of
// another length, at a place that only the launch knows.
// dtypes: float32 float16 bfloat16
// input: a = T[8,8] integers(-3, 4)
// input: b = T[16,48] integers(-3, 4)
// input: at = int32[1] [5]
// output: y = float32[8,80]
// grid: 32
// threadgroup: 32
// where:
//     flat = b.reshape(-1)
//     rows = lambda start, stride: np.stack([flat[start + r * stride:][:8] for r in range(8)])
//     places = [(5, 48), (13, 48), (21, 48), (33, 48), (40, 48), (44, 48), (52, 24), (60, 24), (68, 24), (76, 48)]
// expect: y = np.concatenate([a @ rows(*place) for place in places], axis=1)
threadgroup T right[16 * 48];
for (uint i = thread_index_in_simdgroup; i < 16 * 48; i += 32) right[i] = b[i];
threadgroup_barrier(mem_flags::mem_threadgroup);
const threadgroup T* start = right + at[0];
simdgroup_matrix<T, 8, 8> p, q[10];
simdgroup_load(p, a, 8);
const uint places[10] = {0, 8, 16, 28, 35, 39, 47, 55, 63, 71};
const uint strides[10] = {48, 48, 48, 48, 48, 48, 24, 24, 24, 48};
simdgroup_float8x8 sums[10];
#pragma unroll
for (uint i = 0; i < 10; ++i) {
  simdgroup_load(q[i], start + places[i], strides[i]);
  sums[i] = simdgroup_float8x8(0);
}
#pragma unroll
for (uint i = 0; i < 10; ++i) simdgroup_multiply_accumulate(sums[i], p, q[i], sums[i]);
#pragma unroll
for (uint i = 0; i < 10; ++i) simdgroup_store(sums[i], y, 80, ulong2(8 * i, 0));
