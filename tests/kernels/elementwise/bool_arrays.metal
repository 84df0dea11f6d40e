// Bool arrays in and out, with logic on bytes.
// input: a = bool[77] random
// input: b = bool[77] random
// output: both = bool[77]
// output: either = bool[77]
// output: differ = bool[77]
// output: count = int32[77]
// grid: 77
// threadgroup: 32
// expect: both = a & b
// expect: either = a | b
// expect: differ = a ^ b
// expect: count = a.astype(np.int32) + b
uint i = thread_position_in_grid.x;
both[i] = a[i] && b[i];
either[i] = a[i] || b[i];
differ[i] = a[i] != b[i];
count[i] = a[i] + b[i];
