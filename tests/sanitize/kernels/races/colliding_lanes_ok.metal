// Two lanes write to one element at the same time.
// input: x = float32[64] normal
// output: y = float32[32]
// grid: 64
// threadgroup: 64
// init: 0
uint l = thread_index_in_threadgroup;
if (l % 2 == 1) y[l / 2] = x[l];
