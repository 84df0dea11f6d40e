// Signed and unsigned fields keep their width, also when they are counted up.
// input: x = int32[64] arange
// output: y = int32[64]
// grid: 64
// threadgroup: 32
// where: s = (x + 1) & 7
// expect: y = np.where(s > 3, s - 8, s) * 100 + ((x * 5) & 15)
struct Fields { int small : 3; uint four : 4; uint : 0; uint rest; };
uint t = thread_position_in_grid.x;
Fields f = {0, 0, 0};
f.small = x[t] & 3 | x[t] & 4;
f.small++;
f.four = x[t];
f.four *= 5;
y[t] = f.small * 100 + int(f.four) + int(f.rest);
