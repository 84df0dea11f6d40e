// Scalars below 32 bits compute as int; comparisons of mixed signs as unsigned.
// input: a = uint8[60] random
// input: b = int16[60] random
// input: c = int32[60] integers(-5, 5)
// input: d = uint32[60] integers(0, 5)
// output: y = int32[60]
// output: less = bool[60]
// output: z = uint8[60]
// grid: 60
// threadgroup: 32
// expect: y = a.astype(int) * 300 - b
// expect: less = c.view(np.uint32) < d
// expect: z = (a.astype(int) + 200) // 3
uint t = thread_position_in_grid.x;
y[t] = a[t] * 300 - b[t];
less[t] = c[t] < d[t];
z[t] = (a[t] + 200) / 3;
