// Packed vectors straight out of a buffer.
// input: x = float32[21, 3] uniform(-3, 3)
// output: y = float32[21, 2]
// grid: 21
// threadgroup: 8
// where:
//     d = x.astype('d')
// expect: y = np.stack([(d * d).sum(1), np.sqrt((d * d).sum(1))], axis=1)
// close: 1e-6
uint i = thread_position_in_grid.x;
const device packed_float3* points = (const device packed_float3*)x;
y[2 * i] = dot(float3(points[i]), float3(points[i]));
y[2 * i + 1] = length(points[i]);
