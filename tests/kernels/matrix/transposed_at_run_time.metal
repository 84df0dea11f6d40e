// Whether to transpose is known only when the kernel runs.
// input: x = float32[8,8] arange
// input: flip = int32 1
// output: y = float32[8,8]
// output: z = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = x.T
// expect: z = x
simdgroup_float8x8 m;
simdgroup_load(m, x, 8, 0, flip == 1);
simdgroup_store(m, y);
simdgroup_store(m, z, 8, 0, flip == 1);
