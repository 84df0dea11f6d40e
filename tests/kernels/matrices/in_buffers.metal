// A buffer as an array of matrices: rotations of points, assigned and compared.
// input: x = float32[10, 16] uniform(-1, 1)
// input: points = float32[10, 4] uniform(-1, 1)
// output: y = float32[10, 4]
// output: z = float32[10, 16]
// output: same = bool[10, 2]
// grid: 10
// threadgroup: 8
// where:
//     m = x.reshape(10, 4, 4).astype('d')
// expect: y = np.einsum('tcr,tc->tr', m, points)
// expect: z = np.einsum('tcr,tkc->tkr', m, m)
// expect: same = [[True, False]] * 10
// close: 1e-6 1e-6
uint t = thread_position_in_grid.x;
float4x4 m = ((const device float4x4*)x)[t];
((device float4*)y)[t] = m * ((const device float4*)points)[t];
float4x4 square = m;
square *= m;
((device float4x4*)z)[t] = square;
same[2 * t] = m == ((const device float4x4*)x)[t];
same[2 * t + 1] = !(m != square);
