// Maximum and sum of a row use one buffer.
// input: x = float32[4, 128] normal
// output: y = float32[4, 128]
// grid: 128 4
// threadgroup: 128 1
// close: 1e-5 1e-6
threadgroup float partial[4];
uint i = thread_position_in_grid.y * 128 + thread_position_in_grid.x;
uint lane = thread_index_in_simdgroup;
uint simdgroup = simdgroup_index_in_threadgroup;
float v = x[i];
float top = simd_max(v);
if (lane == 0) partial[simdgroup] = top;
threadgroup_barrier(mem_flags::mem_threadgroup);
top = max(max(partial[0], partial[1]), max(partial[2], partial[3]));  // finds: race-threadgroup (either)
float e = exp(v - top);
float sum = simd_sum(e);
if (lane == 0) partial[simdgroup] = sum;  // finds: race-threadgroup (either)
threadgroup_barrier(mem_flags::mem_threadgroup);
y[i] = e / (partial[0] + partial[1] + partial[2] + partial[3]);
