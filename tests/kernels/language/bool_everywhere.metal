// bool as a number, in arrays, in bit operations, in vectors, compared and counted.
// input: x = bool[64] random
// output: y = int32[64]
// output: z = bool[64]
// grid: 64
// threadgroup: 32
// where: n = np.roll(x, -1)
// expect: y = x * 1 + (x & n) * 10 + (x ^ n) * 100 + (x.astype(int) + n == 2) * 1000
// expect: z = ~x | n
uint t = thread_position_in_grid.x;
bool pair[2] = {x[t], x[(t + 1) % 64]};
bool both = pair[0] & pair[1];
bool2 v = bool2(pair[0], pair[1]);
y[t] = pair[0] + both * 10 + (pair[0] ^ pair[1]) * 100 + (pair[0] + pair[1] == 2) * 1000;
bool r = !v.x;
r |= v.y;
z[t] = r;
