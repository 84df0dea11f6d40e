// Two threads write the halves of a word.
// input: x = float16[64] normal
// output: y = float16[64]
// grid: 64
// threadgroup: 64
uint l = thread_index_in_threadgroup;
((device uint*)y)[l / 2] = as_type<ushort>(x[l]);  // finds: race-device
