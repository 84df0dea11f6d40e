// The order of the sums in dot is open, so its products may be added up in any order.
// input: x = float32[128, 4] integers(-20, 20)
// input: w = float32[128, 4] integers(-20, 20)
// output: y = float32[128, 4]
// output: squares = float32[4]
// output: products = float32[4]
// grid: 128
// threadgroup: 128
// expect: y = x * w
// expect: squares = (x * x).reshape(4, -1).sum(1)
// expect: products = (x * w).reshape(4, -1).sum(1)
uint i = thread_position_in_grid.x, row = simdgroup_index_in_threadgroup;
float4 v = ((const device float4*)x)[i], u = ((const device float4*)w)[i];
squares[row] = simd_sum(dot(v, v));
products[row] = simd_sum(dot(v, u));
((device float4*)y)[i] = v * u;
