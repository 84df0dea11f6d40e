// Bytes side by side are memory of their own; with the wrong stride they are not.
// input: x = uint8[64] integers(0, 255)
// output: y = uint8[64]
// grid: 64
// threadgroup: 64
// expect: y = x[::-1]
threadgroup uchar t[64];
uint l = thread_index_in_threadgroup;
t[l] = x[l];
threadgroup_barrier(mem_flags::mem_threadgroup);
y[l] = t[63 - l];  // finds: race-device (either)
y[l ^ 1] = t[63 - (l ^ 1)];  // finds: race-device (either)
