// Buffers read as vectors, and as bits.
// input: x = float32[64] normal
// output: y = float32[64]
// output: bits = uint32[64]
// grid: 16
// threadgroup: 16
// expect: y = x.reshape(16, 4)[:, ::-1]
// expect: bits = x.view(np.uint32)
uint i = thread_position_in_grid.x;
const device float4* rows = (const device float4*)x;
device float4* result = reinterpret_cast<device float4*>(y);
result[i] = rows[i].wzyx;
const device uint4* raw = reinterpret_cast<const device uint4*>(x);
*((device uint4*)bits + i) = raw[i];
