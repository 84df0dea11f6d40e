// Threadgroup memory belongs into kernels.
// output: y = float32[4]
// grid: 4
// error: 'shared' at 6:19
// header:
threadgroup float shared[32];
// body:
shared[thread_index_in_threadgroup] = 1;
y[thread_position_in_grid.x] = shared[0];
