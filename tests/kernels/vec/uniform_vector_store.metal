// MLX's arrays are aligned to 8 bytes in memory, an int4 in Metal to 16: both must work.
// input: x = int32[9] random
// output: wide = int32[8]
// grid: 1
// threadgroup: 8
// expect: wide = np.concatenate([x[4:8], x[:4]])
((device int4*)wide)[0] = ((const device int4*)x)[1];
((device int4*)wide)[1] = ((const device int4*)x)[0];
