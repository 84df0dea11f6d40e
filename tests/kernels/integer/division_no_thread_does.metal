// Where no lane of a gang divides, the divisor may be zero, though it is the same for all.
// input: n = uint32[2] [0, 5]
// output: y = uint32[64]
// grid: 64
// threadgroup: 32
// expect: y = np.full(64, 12)
uint i = thread_position_in_grid.x;
uint v = 7, a = n[1];
if (i < n[0]) v = a / n[0];
y[i] = v + a;
