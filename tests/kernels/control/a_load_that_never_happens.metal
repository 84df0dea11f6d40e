// Whether the second load happens depends on what cannot be; its address, on the first one.
// input: u = int32[40] integers(0, 9)
// input: m = int32[64] integers(0, 9)
// input: w = uint32[16] integers(1, 9)
// input: n = int32 22
// output: y = uint32[40]
// grid: 8 5
// threadgroup: 32 3
// expect: y = np.full(40, 1)
// header:
struct Record { int a, b, c; };
// body:
uint tid = thread_position_in_grid.x + threads_per_grid.x * thread_position_in_grid.y;
bool either = metal::all(int4(((const device Record*)m)[1u & u[tid]].a, n, 6, 0) < int4(50, 5, n, m[(n >> 1) & 63])) || w[0] > 0u;
y[tid] = either ? 1u : 0u;
