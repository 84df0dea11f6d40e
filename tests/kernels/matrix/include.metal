// The header that the Metal library has for it.
// input: x = float32[8,8] normal
// output: y = float32[8,8]
// grid: 32
// threadgroup: 32
// expect: y = x
// header:
#include <metal_simdgroup_matrix>
using block = metal::simdgroup_matrix<float, 8, 8>;
// body:
block m;
metal::simdgroup_load(m, x);
metal::simdgroup_store(m, y);
