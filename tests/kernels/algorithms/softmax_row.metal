// One threadgroup a row: maximum, sum of exponentials, quotient.
// input: x = T[6, 300] normal
// output: y = T[6, 300]
// dtypes: float32 float16 bfloat16
// where:
//     d = x.astype(np.float64)
//     e = np.exp(d - d.max(axis=1, keepdims=True))
// grid: 128 6
// threadgroup: 128 1
// expect: y = e / e.sum(axis=1, keepdims=True)
// close: 1e-5 1e-8
threadgroup float parts[4];
const uint row = thread_position_in_grid.y;
const uint lid = thread_position_in_threadgroup.x;
const uint n = x_shape[1];
float most = -INFINITY;
for (uint i = lid; i < n; i += 128) most = max(most, float(x[row * n + i]));
most = simd_max(most);
if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = most;
threadgroup_barrier(mem_flags::mem_threadgroup);
most = max(max(parts[0], parts[1]), max(parts[2], parts[3]));
threadgroup_barrier(mem_flags::mem_threadgroup);
float sum = 0;
for (uint i = lid; i < n; i += 128) sum += exp(float(x[row * n + i]) - most);
sum = simd_sum(sum);
if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = sum;
threadgroup_barrier(mem_flags::mem_threadgroup);
sum = parts[0] + parts[1] + parts[2] + parts[3];
for (uint i = lid; i < n; i += 128)
  y[row * n + i] = T(exp(float(x[row * n + i]) - most) / sum);
