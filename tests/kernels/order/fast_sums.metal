// Sums of floats that may be reordered: of components, products, and what differs between lanes.
// input: x = float32[64, 4] normal
// input: w = float32[64, 4] normal
// input: f = float32[64] normal
// output: y = float32[64, 4]
// output: plain = float32[2]
// output: products = float32[2]
// output: scaled = float32[2]
// output: crossed = float32[2]
// output: part = float32[2]
// grid: 64
// threadgroup: 64
// math_mode: fast
// where:
//     def total(v): return v.reshape(2, -1).sum(1)
// expect: y = (x + 1) * 2
// expect: plain = total(x + 1)
// expect: products = total((x + 1) * w)
// expect: scaled = total((x + 1) * f[:, None])
// expect: crossed = total((x + 1) * w[:, [1, 2, 3, 0]])
// expect: part = total((x + 1)[:, 1:] * w[:, 1:])
// close: 1e-4 1e-4
uint i = thread_position_in_grid.x, row = simdgroup_index_in_threadgroup;
float4 v = ((const device float4*)x)[i] + 1, u = ((const device float4*)w)[i];
((device float4*)y)[i] = v * 2;
plain[row] = simd_sum(v.x + v.y + v.z + v.w);
products[row] = simd_sum(v.x * u.x + v.y * u.y + v.z * u.z + v.w * u.w);
scaled[row] = simd_sum(v.x * f[i] + v.y * f[i] + v.z * f[i] + v.w * f[i]);
crossed[row] = simd_sum(v.x * u.y + v.y * u.z + v.z * u.w + v.w * u.x);
part[row] = simd_sum(v.y * u.y + v.z * u.z + v.w * u.w);
