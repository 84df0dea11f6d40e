// The barrier makes threads wait, but orders no memory.
// input: x = float32[128] normal
// output: y = float32[128]
// grid: 128
// threadgroup: 64
// expect: y = x.reshape(2, 64)[:, ::-1].reshape(-1)
threadgroup float tile[64];
uint l = thread_index_in_threadgroup;
uint i = thread_position_in_grid.x;
tile[l] = x[i];  // finds: race-threadgroup (either)
threadgroup_barrier(mem_flags::mem_none);
y[i] = tile[63 - l];  // finds: race-threadgroup (either)
