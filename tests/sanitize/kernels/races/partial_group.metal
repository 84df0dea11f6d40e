// The last threadgroup is smaller; a thread of it reads what another writes.
// input: x = float32[80] normal
// output: y = float32[80]
// grid: 80
// threadgroup: 64
threadgroup float t[64];
uint l = thread_index_in_threadgroup;
uint i = thread_position_in_grid.x;
uint n = threads_per_threadgroup.x;
t[l] = x[i];  // finds: race-threadgroup (either)
y[i] = t[n - 1 - l];  // finds: race-threadgroup (either), undefined-output
