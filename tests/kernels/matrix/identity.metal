// A product with the identity on either side.
// input: x = float32[8,8] normal
// output: y = float32[8,8]
// output: z = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = x
// expect: z = x
simdgroup_float8x8 m, one(1.0f);
simdgroup_load(m, x);
simdgroup_store(one * m, y);
simdgroup_store(m * one, z);
