// Each SIMD-group stores its part of a sum and of a maximum, and a few lanes of each add up the
// parts. The first row has whole SIMD-groups only, the last threadgroup of the second is ragged.
// dtypes: float32 float16
// input: x = float32[352] integers(-100, 100)
// output: sums = T[352]
// output: tops = T[352]
// grid: 352
// threadgroup: 256
// expect: sums = np.concatenate([np.repeat(x[:256].sum(), 256), np.repeat(x[256:].sum(), 96)])
// expect: tops = np.concatenate([np.repeat(x[:256].max(), 256), np.repeat(x[256:].max(), 96)])
threadgroup T parts[8], largest[8];
uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
uint group = simdgroup_index_in_threadgroup;
uint groups = threads_per_threadgroup.x / 32;
if (thread_position_in_threadgroup.x < 8) parts[lane] = 0, largest[lane] = -1000;
threadgroup_barrier(mem_flags::mem_threadgroup);
T part = simd_sum(T(x[i])), top = simd_max(T(x[i]));
if (lane == 0) {
  parts[group] = part;
  largest[group] = top;
}
threadgroup_barrier(mem_flags::mem_threadgroup);
sums[i] = simd_sum(lane < 8 ? parts[lane] : T(0));
T mine = -1000;
if (lane < groups) mine = largest[lane];
tops[i] = simd_max(mine);
