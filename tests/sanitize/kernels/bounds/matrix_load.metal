// A tile of a simdgroup_matrix that leaves the array.
// input: x = float32[60]
// output: y = float32[64]
// grid: 32
// threadgroup: 32
// header:
#include <metal_simdgroup_matrix>
// body:
simdgroup_float8x8 m;
simdgroup_load(m, x, 8);  // finds: bounds-read
simdgroup_store(m, y, 8);
