// All threads write the sum of different things to one place.
// input: x = float32[64] normal
// output: y = float32[64]
// grid: 64
// threadgroup: 64
threadgroup float last;
uint l = thread_index_in_threadgroup;
if (l == 63) {
last = x[l];
}
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l] = last;
