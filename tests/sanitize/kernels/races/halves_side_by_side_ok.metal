// Two threads write the halves of a word.
// input: x = float16[64] normal
// output: y = float16[64]
// grid: 64
// threadgroup: 64
// expect: y = x
uint l = thread_index_in_threadgroup;
y[l] = x[l];
