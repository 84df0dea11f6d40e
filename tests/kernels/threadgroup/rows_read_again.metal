// More of a row than the registers hold is needed again behind a barrier; an output that is also
// read in between stays as it was.
// input: x = float32[4, 1024] normal
// input: w = int32[1024] integers(-1000, 1000)
// output: y = float32[4, 1024]
// output: z = int32[4, 1024]
// init: 0
// grid: 256 4
// threadgroup: 256
// close: 1e-5
// where: total = np.sum(x.astype(np.float64) ** 2, axis=1, keepdims=True)
// expect: y = x * total
// expect: z = np.broadcast_to(2 * w, (4, 1024))
threadgroup float partial[8];
uint t = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.y;
uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
float4 v = ((const device float4*)x)[row * 256 + t];
int4 count = ((const device int4*)w)[t];
device int4* counts = (device int4*)z;
counts[row * 256 + t] = count;
int4 before = counts[row * 256 + t];
float sum = simd_sum(dot(v, v));
if (lane == 0) partial[group] = sum;
counts[row * 256 + t] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
float total = 0;
for (uint g = 0; g < 8; ++g) total += partial[g];
((device float4*)y)[row * 256 + t] = v * total;
counts[row * 256 + t] = before + count;
